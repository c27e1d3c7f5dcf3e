// The head as bytes: the magic; strings, each after its length; the sums and the pieces, each list after its length.
// No file is touched here, so that the parser can be fuzzed alone.
#include "bandmill/io/checkpoint.hpp"
#include "bandmill/io/checkpoint_format.hpp"

#include <algorithm>
#include <limits>

namespace bandmill {
namespace {

static_assert(sizeof(PieceHead) == 6 * sizeof(std::int64_t)); // no holes: it is written as it is

[[noreturn]] void refuse(const std::string& reason) {
    throw FileError("the head of the checkpoint cannot be trusted (" + reason + ")");
}

class HeadWriter {
  public:
    void add(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
    template <class List> void add_list(const List& list) {
        const auto count = static_cast<std::int64_t>(list.size());
        add(&count, sizeof count);
        add(list.data(), list.size() * sizeof(*list.data()));
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class HeadReader {
  public:
    explicit HeadReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    bool skip(std::string_view text) {
        if (rest_.size() < text.size() || std::memcmp(rest_.data(), text.data(), text.size()) != 0) return false;
        rest_ = rest_.subspan(text.size());
        return true;
    }

    template <class List> void read_list(List& list, const char* what) {
        std::int64_t count = 0;
        if (rest_.size() < sizeof count) refuse(std::string("it ends before its ") + what);
        std::memcpy(&count, rest_.data(), sizeof count);
        rest_ = rest_.subspan(sizeof count);
        // Before memory is asked for: a count may be anything.
        constexpr std::size_t each = sizeof(typename List::value_type);
        if (count < 0 || static_cast<std::uint64_t>(count) > rest_.size() / each)
            refuse("its " + std::string(what) + " number " + std::to_string(count) + ", " +
                   std::to_string(rest_.size()) + " bytes are left");
        list.resize(static_cast<std::size_t>(count));
        if (count > 0) std::memcpy(list.data(), rest_.data(), list.size() * each);
        rest_ = rest_.subspan(list.size() * each);
    }

    std::size_t left() const { return rest_.size(); }

  private:
    std::span<const std::byte> rest_;
};

struct Range {
    std::int64_t first, size;
};

// The ends are known not to overflow.
bool overlap(std::vector<Range> ranges) {
    std::erase_if(ranges, [](const Range& range) { return range.size == 0; });
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    for (std::size_t k = 1; k < ranges.size(); ++k)
        if (ranges[k - 1].first + ranges[k - 1].size > ranges[k].first) return true;
    return false;
}

void check_pieces(const std::vector<PieceHead>& pieces, std::int64_t head_bytes, std::int64_t file_bytes) {
    std::vector<Range> members, places;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        const PieceHead& piece = pieces[k];
        const std::string which = "piece " + std::to_string(k);
        if (piece.first < 0 || piece.count < 0 || piece.first > std::numeric_limits<std::int64_t>::max() - piece.count)
            refuse(which + " has " + std::to_string(piece.count) + " members from " + std::to_string(piece.first));
        if (piece.step < 0 || piece.sampled < -1)
            refuse(which + " is at step " + std::to_string(piece.step) + ", sampled at " +
                   std::to_string(piece.sampled));
        // One that has not started is nowhere.
        const bool inside = piece.bytes == 0
                                ? piece.offset == 0
                                : piece.bytes > 0 && piece.offset >= head_bytes && piece.offset <= file_bytes &&
                                      piece.bytes <= file_bytes - piece.offset;
        if (!inside)
            refuse(which + " has " + std::to_string(piece.bytes) + " bytes at " + std::to_string(piece.offset) +
                   ", outside of the file's " + std::to_string(file_bytes));
        members.push_back({piece.first, piece.count});
        places.push_back({piece.offset, piece.bytes});
    }
    if (overlap(std::move(places))) refuse("states of its pieces overlap");
    if (overlap(std::move(members))) refuse("pieces have members in common");
}

} // namespace

std::string encode(const CheckpointHead& head) {
    HeadWriter writer;
    writer.add(detail::checkpoint_magic.data(), detail::checkpoint_magic.size());
    for (const std::string* text : {&head.study, &head.version, &head.options, &head.extra}) writer.add_list(*text);
    writer.add_list(head.sums);
    writer.add_list(head.pieces);
    return writer.take();
}

CheckpointHead decode(std::span<const std::byte> bytes, std::int64_t file_bytes) {
    HeadReader reader(bytes);
    if (!reader.skip(detail::checkpoint_magic)) refuse("it does not start as one");
    CheckpointHead head;
    reader.read_list(head.study, "study");
    reader.read_list(head.version, "version");
    reader.read_list(head.options, "options");
    reader.read_list(head.extra, "extra");
    reader.read_list(head.sums, "sums");
    reader.read_list(head.pieces, "pieces");
    if (reader.left() > 0) refuse(std::to_string(reader.left()) + " bytes follow its end");
    check_pieces(head.pieces, static_cast<std::int64_t>(bytes.size()), file_bytes);
    return head;
}

} // namespace bandmill
