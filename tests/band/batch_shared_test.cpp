// How kernels for matrices of their own share out a GPU's shared memory, and how long systems are taken apart: checked
// for many GPUs and shapes on the host.
#include "bandmill/cuda/tuning.hpp"

#include <gtest/gtest.h>

namespace {

using namespace bandmill::cuda;

struct Limits {
    int per_multiprocessor, per_block;
};
constexpr Limits gpus[] = {{233472, 232448}, {167936, 166912}, {102400, 101376}, {65536, 65536}};

// Of the four kernels, for W = 1 and 2, open and periodic.
constexpr BatchUse uses[] = {{8, 3, 1, false},
                             {8, 4, 1, false},
                             {8, 6, 1, false},
                             {4, 3, 0, false},
                             {4, 5, 0, false},
                             {4, 4, 2, false},
                             {4, 6, 3, false},
                             {4, 6, 5, false},
                             {batch_stream_chunk, 3, 1, true},
                             {batch_stream_chunk, 4, 1, true},
                             {batch_stream_chunk, 6, 1, true}};

void expect_it_fits(const Limits& gpu, const BatchUse& use, int rows, int usual, int each, const BatchTuning& tuning) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << use.row_values << " values in chunks of " << use.chunk
                                    << ", " << tuning.blocks << " blocks and " << tuning.chunks << " chunks wanted, "
                                    << gpu.per_block << " bytes");
    const int barriers = use.streams ? batch_stream_barrier_bytes : 0;
    const BatchShared shared = choose_shared(tuning, usual, each, use, rows, gpu.per_multiprocessor,
                                             gpu.per_block - barriers, 1024 + barriers);
    ASSERT_GE(shared.chunks, 2);
    ASSERT_LE(shared.chunks, use.streams ? most_stream_chunks : most_batch_chunks);
    if (!use.streams) {
        ASSERT_EQ(shared.chunks & (shared.chunks - 1), 0) << "Ring::wait knows powers of two only";
    }
    ASSERT_GE(shared.first_kept, 0);
    ASSERT_EQ(shared.first_kept % use.chunk, 0);
    int kept = 0;
    if (use.kept_values > 0) {
        ASSERT_LE(shared.first_kept, rows / use.chunk * use.chunk) << "a part of a chunk is always kept";
        kept = (rows - shared.first_kept) * use.kept_values;
    }
    ASSERT_EQ(shared.bytes, 256 * (shared.chunks * use.chunk * use.row_values + kept));
    ASSERT_LE(shared.bytes + barriers, gpu.per_block);
}

TEST(BatchShared, FitsABlockAndKeepsTheLastRows) {
    for (const Limits& gpu : gpus)
        for (const BatchUse& use : uses)
            for (const int rows : {0,   1,   2,   3,   7,   8,   11,   12,   13,   15,   16,   17,   63,   64,    65,
                                   100, 255, 256, 300, 511, 700, 1000, 1019, 1020, 1021, 1022, 1023, 1024, 100000})
                for (const int each : {1, 2, 3, 16, 1000})
                    for (const BatchTuning& tuning :
                         {BatchTuning{}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {1, 0}, {1, 16}, {4, 0}, {8, 8}})
                        for (const int usual : {1, 2, 4}) {
                            expect_it_fits(gpu, use, rows, usual, each, tuning);
                            if (HasFatalFailure()) return;
                        }
}

// Where several blocks keep all of their rows they all find room.
TEST(BatchShared, BlocksThatKeepAllFitTogether) {
    int several = 0;
    for (const BatchUse& use : uses)
        for (int rows = 1; rows < 300; ++rows)
            for (int blocks = 2; blocks <= most_batch_blocks; ++blocks) {
                const BatchShared shared = choose_shared({}, blocks, use, rows, 233472, 232448, 1024);
                if (use.kept_values == 0 || shared.first_kept > 0 || shared.chunks == 2) continue;
                ASSERT_LE(blocks * (shared.bytes + 1024), 233472) << rows << " rows, " << blocks << " blocks";
                ++several;
            }
    EXPECT_GT(several, 1000);
}

// A piece fits where y is kept, begins with a chunk, is longer than what may be felt of the rows above it, and does not
// depend on the batch.
TEST(BatchPieces, FitAndDoNotDependOnTheBatch) {
    int in_pieces = 0;
    for (const Limits& gpu : gpus)
        for (const int values : {3, 4})
            for (int rows = 1; rows <= 40000; rows += rows < 3000 ? 1 : 37) {
                const auto shared_for = [&](int each) {
                    return choose_shared({}, batch_stream_blocks, each, {batch_stream_chunk, values, 1, true}, rows,
                                         gpu.per_multiprocessor, gpu.per_block - batch_stream_barrier_bytes,
                                         1024 + batch_stream_barrier_bytes);
                };
                const BatchShared shared = shared_for(1);
                const int piece = choose_piece(rows, shared);
                for (const int each : {2, 5, 1000}) ASSERT_EQ(choose_piece(rows, shared_for(each)), piece);
                if (piece == 0) {
                    ASSERT_TRUE(rows < pieces_from || gpu.per_block < 200000) << rows << " rows";
                    continue;
                }
                ++in_pieces;
                ASSERT_GE(rows, pieces_from);
                ASSERT_EQ(piece % batch_stream_chunk, 0);
                ASSERT_GE(piece, longest_reach);
                ASSERT_LE(piece, rows - shared.first_kept) << rows << " rows";
            }
    EXPECT_GT(in_pieces, 1000);
    EXPECT_EQ(longest_reach % batch_stream_chunk, 0);
}

// What is left in the cache for y: its last rows, no more of them than two fifths of it hold.
TEST(BatchOnce, LeavesTheCacheToTheLastRowsOfY) {
    // Nothing leaves the chip: all in the cache, a little more, much more.
    EXPECT_EQ(choose_once(0, 1, 30e6, 50 << 20, 132), INT32_MAX);
    EXPECT_EQ(choose_once(0, 1, 80e6, 50 << 20, 132), 0);
    EXPECT_EQ(choose_once(0, 1, 80e7, 50 << 20, 132), INT32_MAX);
    EXPECT_EQ(choose_once(400, 1, 1e9, 50 << 20, 132), 0);
    for (const int blocks : {1, 2, 132, 1000}) {
        const int from = choose_once(1000000, 1, 1e9, 50 << 20, blocks);
        ASSERT_GT(from, 0);
        EXPECT_LE((1000000 - from) * 256.0 * blocks, 0.4 * (50 << 20));
        EXPECT_GT((1000001 - from) * 256.0 * blocks, 0.4 * (50 << 20));
    }
    EXPECT_EQ(choose_once(1000, 1, 1e9, 0, 132), 1000); // no cache
    EXPECT_EQ(1000000 - choose_once(1000000, 2, 1e9, 50 << 20, 66),
              1000000 - choose_once(1000000, 1, 1e9, 50 << 20, 132));
}

// Every row has a thread, a block's slots and messages fit its shared memory, and boxes are as the copy engine takes
// them. Deadlock would be a warp whose slot is never filled.
template <class T> void expect_splits(int least_rows, int room) {
    for (int rows = 1; rows <= 20000; ++rows) {
        const BatchSplit split = choose_split<T>(rows, room);
        if (split.width == 0) {
            ASSERT_GE(rows, least_rows) << "could be split";
            continue;
        }
        SCOPED_TRACE(testing::Message() << rows << " rows");
        const int parts = 32 / split.width;
        ASSERT_EQ(split.width * parts, 32);
        ASSERT_GE(split.rows * split.warps * parts * split.team, rows);
        ASSERT_LT((split.rows - 1) * split.warps * parts * split.team, rows) << "pieces could be shorter";
        ASSERT_LE(split.rows, split_rows<T>);
        ASSERT_GE(split.warps, 1);
        ASSERT_LE(split.warps, most_split_warps<T>);
        ASSERT_LE(2 * split.rows * parts, 256);
        ASSERT_GE(split.down_slots, 1);
        ASSERT_LE(split.down_slots, split.warps);
        ASSERT_EQ(split.up_slots, split.warps);
        ASSERT_LE(split.bytes, room);
        const int slots = (3 * split.down_slots + split.up_slots) * split.rows * 32;
        const int messages = 2 * (split.warps + split.team) * split.width * 2;
        ASSERT_GE(split.bytes, split_barrier_bytes + (slots + messages) * static_cast<int>(sizeof(T)));
        if (room == gpus[0].per_block) {
            ASSERT_LE(split_blocks<T> * (split.bytes + 1024), gpus[0].per_multiprocessor);
        }
    }
}
template <class T> void expect_splits_everywhere(int least_rows) {
    expect_splits<T>(least_rows, gpus[0].per_block);
    for (const Limits& gpu : gpus) expect_splits<T>(1, gpu.per_block);
    EXPECT_EQ(choose_split<T>(1000, 8 * 1024).width, 0) << "too little shared memory";
}
TEST(BatchSplit, HoldsEveryRowOfDouble) { expect_splits_everywhere<double>(8961); }
TEST(BatchSplit, HoldsEveryRowOfFloat) { expect_splits_everywhere<float>(4225); }

} // namespace
