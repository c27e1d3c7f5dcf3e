// Checkpoint: all that a study needs to go on with the same bits, in one file that all ranks write together.
//
// The file is a row of blocks of 64 KiB and a trailer. The first blocks hold the head; then come the states of the
// pieces, each starting at a block. The trailer holds the file's length and a checksum over the checksums of the
// blocks, so that ranks can write their blocks side by side. Nothing is parsed before the checksum is verified.
// A new checkpoint is written under another name, synced, and renamed; the one before it is kept as NAME.previous.
#pragma once

#include "bandmill/dist/communicator.hpp"
#include "bandmill/io/error.hpp"

#include <cstddef>

namespace bandmill {

// Members that one rank steps together.
struct PieceHead {
    std::int64_t first, count; // numbers of its members
    std::int64_t step;         // that they have reached
    std::int64_t sampled;      // SavedState::sampled
    std::int64_t offset = 0;   // of their states in the file
    std::int64_t bytes = 0;    // 0: not started
};

struct CheckpointHead {
    std::string study;   // "coarsen"
    std::string version; // of the program
    std::string options; // of the study, as a config file
    std::string extra;   // what else the study keeps, in its own words
    std::vector<std::int64_t> sums;
    std::vector<PieceHead> pieces;
};

// The head as bytes, and back. Throws FileError for bytes that are no head: truncated, counts that do not fit, pieces
// that overlap or lie outside of a file of `file_bytes`.
std::string encode(const CheckpointHead& head);
CheckpointHead decode(std::span<const std::byte> bytes, std::int64_t file_bytes);

struct PieceStates {
    PieceHead head; // offset and bytes are filled in by save_checkpoint
    std::span<const std::byte> states;
};

// Collective. `head` counts at rank 0 (without its pieces, which come from all ranks). Throws FileError on every rank
// if any of them fails; the file that stood there is then still there.
void save_checkpoint(const std::string& path, const CheckpointHead& head, std::span<const PieceStates> pieces,
                     Communicator& ranks);

// Reads the head and verifies the whole file. Where it is damaged, path + ".previous" is tried: `warn` is told.
// `path` becomes the one that was read. Throws FileError if neither can be trusted.
CheckpointHead load_checkpoint(std::string& path, const std::function<void(const std::string&)>& warn);
// The states of one piece of it.
void read_states(const std::string& path, const PieceHead& piece, std::span<std::byte> states);
// Removes it and its predecessor, if they are there.
void remove_checkpoint(const std::string& path);

} // namespace bandmill
