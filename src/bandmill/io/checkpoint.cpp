#include "bandmill/io/checkpoint.hpp"

#include "bandmill/io/checkpoint_file.hpp"
#include "bandmill/io/checkpoint_format.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>

namespace bandmill {
namespace {

using detail::CheckpointFile;
using detail::CheckpointTrailer;
using Mode = CheckpointFile::Mode;
constexpr std::int64_t block_bytes = detail::checkpoint_block;
// Written and read at once: enough for a disk to be busy, little beside the states.
constexpr std::int64_t part_bytes = 64 * block_bytes;

std::string fresh_name(const std::string& path) { return path + ".new"; }
std::string kept_name(const std::string& path) { return path + ".kept"; }
std::string previous_name(const std::string& path) { return path + ".previous"; }

std::int64_t whole_blocks(std::int64_t bytes) { return (bytes + block_bytes - 1) / block_bytes * block_bytes; }

template <class T> std::string bytes_of(std::span<const T> list) {
    return {reinterpret_cast<const char*>(list.data()), list.size_bytes()};
}

template <class T> std::vector<T> list_of(const std::string& bytes) {
    std::vector<T> list(bytes.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    return list;
}

void add_checksums(std::span<const std::byte> blocks, std::vector<std::uint64_t>& checksums) {
    for (; !blocks.empty(); blocks = blocks.subspan<block_bytes>())
        checksums.push_back(detail::block_checksum(blocks.first<block_bytes>()));
}

// `bytes` from `place` on, with zeros up to the end of the last block. Returns where that is.
std::int64_t write_blocks(CheckpointFile& file, std::span<const std::byte> bytes, std::int64_t place,
                          std::vector<std::uint64_t>& checksums) {
    auto write = [&](std::span<const std::byte> blocks) {
        add_checksums(blocks, checksums);
        file.write(blocks, place);
        place += static_cast<std::int64_t>(blocks.size());
        bytes = bytes.subspan(std::min(blocks.size(), bytes.size()));
    };
    while (static_cast<std::int64_t>(bytes.size()) >= block_bytes) {
        const std::int64_t whole = static_cast<std::int64_t>(bytes.size()) / block_bytes * block_bytes;
        write(bytes.first(static_cast<std::size_t>(std::min(whole, part_bytes))));
    }
    if (!bytes.empty()) {
        std::vector<std::byte> last(static_cast<std::size_t>(block_bytes));
        std::copy(bytes.begin(), bytes.end(), last.begin());
        write(last);
    }
    return place;
}

// What `action` threw, as text; nothing if it did not. An error on one rank has to reach all others, whatever it is.
template <class Action> std::string failure_of(Action action) {
    try {
        action();
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

// Collective. Throws on every rank if one of them has failed.
void agree(const std::string& failure, Communicator& ranks) {
    const std::vector<std::string> failures = ranks.gather(failure);
    std::string first;
    for (std::size_t rank = 0; rank < failures.size() && first.empty(); ++rank)
        if (!failures[rank].empty())
            first = failures[rank] + (ranks.size() > 1 ? " on rank " + std::to_string(rank) : "");
    first = ranks.broadcast(first);
    if (!first.empty())
        throw FileError("the checkpoint was not saved, " + first +
                        ": see that its folder has room, can be written, and is the same on all ranks");
}

struct Layout {
    CheckpointHead head;
    std::vector<std::int64_t> starts; // of each rank's first block
    std::int64_t end = 0;             // of the last block
};

Layout lay_out(const CheckpointHead& head, const std::vector<std::string>& tables) {
    Layout layout{.head = head, .starts = {}};
    std::vector<PieceHead>& pieces = layout.head.pieces;
    pieces.clear();
    for (const std::string& table : tables)
        for (const PieceHead& piece : list_of<PieceHead>(table)) pieces.push_back(piece);
    layout.end = whole_blocks(static_cast<std::int64_t>(encode(layout.head).size()));
    std::size_t k = 0;
    for (const std::string& table : tables) {
        layout.starts.push_back(layout.end);
        for (const std::size_t stop = k + table.size() / sizeof(PieceHead); k < stop; ++k) {
            pieces[k].offset = pieces[k].bytes > 0 ? layout.end : 0;
            layout.end += whole_blocks(pieces[k].bytes);
        }
    }
    // What could not be loaded must not replace what can.
    const std::string encoded = encode(layout.head);
    decode(std::as_bytes(std::span(encoded)), layout.end);
    return layout;
}

void sync_folder(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    // Not all file systems can; the renaming is done and cannot be undone.
    fsync(descriptor);
    close(descriptor);
}

// At every instant PATH or PATH.previous can be loaded, even if PATH was damaged before.
void replace(const std::string& path) {
    const std::string kept = kept_name(path), previous = previous_name(path);
    unlink(kept.c_str());
    const bool linked = link(path.c_str(), kept.c_str()) == 0;
    if (!linked && errno != ENOENT) rename(path.c_str(), previous.c_str()); // where there are no links
    if (rename(fresh_name(path).c_str(), path.c_str()) != 0) {
        const int error = errno;
        unlink(kept.c_str());
        throw FileError("cannot write '" + path + "' (" + std::strerror(error) + ")");
    }
    if (linked) rename(kept.c_str(), previous.c_str());
    sync_folder(path);
}

// Rank 0, when all states are on the disk.
void complete(const std::string& path, const Layout& layout, const std::vector<std::string>& state_checksums) {
    CheckpointFile file(fresh_name(path), Mode::write);
    const std::string head = encode(layout.head);
    std::vector<std::uint64_t> checksums;
    write_blocks(file, std::as_bytes(std::span(head)), 0, checksums);
    for (const std::string& of_rank : state_checksums)
        for (const std::uint64_t checksum : list_of<std::uint64_t>(of_rank)) checksums.push_back(checksum);
    CheckpointTrailer trailer{.head_bytes = static_cast<std::int64_t>(head.size()),
                              .file_bytes = layout.end + static_cast<std::int64_t>(sizeof(CheckpointTrailer)),
                              .checksum = 0,
                              .format = detail::checkpoint_format,
                              .magic = {}};
    std::copy(detail::checkpoint_magic.begin(), detail::checkpoint_magic.end(), trailer.magic);
    trailer.checksum = detail::file_checksum(checksums, trailer);
    file.write(std::as_bytes(std::span(&trailer, 1)), layout.end);
    file.sync();
    replace(path);
}

void save(const std::string& path, const CheckpointHead& head, std::span<const PieceStates> pieces,
          Communicator& ranks) {
    std::vector<PieceHead> table;
    for (const PieceStates& piece : pieces) {
        table.push_back(piece.head);
        table.back().offset = 0;
        table.back().bytes = static_cast<std::int64_t>(piece.states.size());
    }
    const std::vector<std::string> tables = ranks.gather(bytes_of(std::span<const PieceHead>(table)));
    Layout layout;
    agree(failure_of([&] {
              if (!ranks.is_root()) return;
              layout = lay_out(head, tables);
              unlink(fresh_name(path).c_str()); // of a run that was killed
              CheckpointFile(fresh_name(path), Mode::create);
          }),
          ranks);

    const auto starts = list_of<std::int64_t>(ranks.broadcast(bytes_of(std::span<const std::int64_t>(layout.starts))));
    std::vector<std::uint64_t> checksums;
    agree(failure_of([&] {
              if (pieces.empty()) return;
              CheckpointFile file(fresh_name(path), Mode::write);
              std::int64_t place = starts[static_cast<std::size_t>(ranks.rank())];
              for (const PieceStates& piece : pieces) place = write_blocks(file, piece.states, place, checksums);
              file.sync();
          }),
          ranks);

    const auto all_checksums = ranks.gather(bytes_of(std::span<const std::uint64_t>(checksums)));
    agree(failure_of([&] {
              if (ranks.is_root()) complete(path, layout, all_checksums);
          }),
          ranks);
}

bool begins_as_checkpoint(const CheckpointFile& file, std::int64_t size) {
    std::string start(std::min(static_cast<std::size_t>(size), detail::checkpoint_magic.size()), '\0');
    file.read(std::as_writable_bytes(std::span(start)), 0);
    return start == detail::checkpoint_magic;
}

// The trailer, after all that can be said without reading the blocks.
CheckpointTrailer read_trailer(const CheckpointFile& file, const std::string& path) {
    const struct stat status = file.status();
    if (!S_ISREG(status.st_mode)) throw FileError("'" + path + "' is not a bandmill checkpoint (nor a regular file)");
    const std::int64_t size = status.st_size;
    CheckpointTrailer trailer{};
    constexpr std::int64_t trailer_bytes = sizeof trailer;
    if (size >= trailer_bytes) file.read(std::as_writable_bytes(std::span(&trailer, 1)), size - trailer_bytes);
    const std::string damaged = "'" + path + "' is damaged (";
    if (std::string_view(trailer.magic, sizeof trailer.magic) != detail::checkpoint_magic) {
        if (!begins_as_checkpoint(file, size)) throw FileError("'" + path + "' is not a bandmill checkpoint");
        throw FileError(damaged + "its end is not that of a checkpoint)");
    }
    if (trailer.format > detail::checkpoint_format)
        throw FileError("'" + path + "' is a checkpoint of format " + std::to_string(trailer.format) +
                        ", which a newer bandmill wrote (this one reads format " +
                        std::to_string(detail::checkpoint_format) + ")");
    if (trailer.format != detail::checkpoint_format)
        throw FileError(damaged + "its format is " + std::to_string(trailer.format) + ")");
    if (trailer.file_bytes != size || (size - trailer_bytes) % block_bytes != 0)
        throw FileError(damaged + "it has " + std::to_string(size) + " bytes, " + std::to_string(trailer.file_bytes) +
                        " were written)");
    if (trailer.head_bytes < 0 || trailer.head_bytes > size - trailer_bytes)
        throw FileError(damaged + "its head cannot have " + std::to_string(trailer.head_bytes) + " bytes)");
    return trailer;
}

CheckpointHead load(const std::string& path) {
    const CheckpointFile file(path, Mode::read);
    const CheckpointTrailer trailer = read_trailer(file, path);
    const std::int64_t end = trailer.file_bytes - static_cast<std::int64_t>(sizeof trailer);
    std::vector<std::uint64_t> checksums;
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(end, part_bytes)));
    for (std::int64_t place = 0; place < end; place += part_bytes) {
        const auto part = std::span(buffer).first(static_cast<std::size_t>(std::min(end - place, part_bytes)));
        file.read(part, place);
        add_checksums(part, checksums);
    }
    if (detail::file_checksum(checksums, trailer) != trailer.checksum)
        throw FileError("'" + path + "' is damaged (its checksum does not match)");
    std::vector<std::byte> head(static_cast<std::size_t>(trailer.head_bytes));
    file.read(head, 0);
    try {
        return decode(head, end);
    } catch (const FileError& error) {
        throw FileError("'" + path + "' is damaged, " + error.what());
    }
}

} // namespace

void save_checkpoint(const std::string& path, const CheckpointHead& head, std::span<const PieceStates> pieces,
                     Communicator& ranks) {
    try {
        save(path, head, pieces, ranks);
    } catch (const FileError&) {
        if (ranks.is_root()) unlink(fresh_name(path).c_str());
        throw;
    }
}

CheckpointHead load_checkpoint(std::string& path, const std::function<void(const std::string&)>& warn) {
    CheckpointHead head;
    std::string failure;
    try {
        return load(path);
    } catch (const FileError& error) {
        failure = error.what();
    }
    const std::string previous = previous_name(path);
    std::error_code unknown;
    if (std::filesystem::exists(previous, unknown)) {
        const std::string second = failure_of([&] { head = load(previous); });
        if (second.empty()) {
            if (warn) warn(failure + ": going on from the one before it, '" + previous + "'");
            path = previous;
            return head;
        }
        failure += ", and " + second;
    }
    throw FileError(failure + ": give the name of a whole checkpoint, or start the study again");
}

void read_states(const std::string& path, const PieceHead& piece, std::span<std::byte> states) {
    if (piece.bytes != static_cast<std::int64_t>(states.size()))
        throw FileError("'" + path + "' holds " + std::to_string(piece.bytes) + " bytes of states for the " +
                        std::to_string(piece.count) + " members from " + std::to_string(piece.first) + " on, not " +
                        std::to_string(states.size()) + ": resume it with the options it was saved with");
    if (!states.empty()) CheckpointFile(path, Mode::read).read(states, piece.offset);
}

void remove_checkpoint(const std::string& path) {
    // PATH goes last: else a predecessor alone could be taken for the state of a run that is finished.
    for (const std::string& name : {fresh_name(path), kept_name(path), previous_name(path), path})
        if (unlink(name.c_str()) != 0 && errno != ENOENT)
            throw FileError("cannot remove '" + name + "' (" + std::strerror(errno) + "): remove it by hand");
}

} // namespace bandmill
