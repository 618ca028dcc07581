// SPDX-License-Identifier: BSD-3-Clause
// Records that do not fit into their entry: they go to linked chunks, in one copy or two, and the
// entry's body says where the chain begins.
//
// CHAIN-1 A chain counts if each of its links is valid in at least one copy. Links are written
//    before the entry, and by the same fence. A link has its entry's transaction and epoch, so that
//    no older link passes for it.
// CHAIN-2 All chains that one reader reads have together at most `budget` bytes. A chunk belongs to
//    one chain, so no log that Scute wrote needs nearly twice the file's length; a chain that needs
//    more is forged.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/log/entry.hpp"
#include "core/medium/medium.hpp"

namespace scute::core::log {

// The file that chains lie in.
struct chunk_space {
  std::byte* base;      // of the file
  uint64_t chunk_size;  // bytes
  uint32_t copies;      // of every chunk: 1 or 2
};

constexpr uint64_t link_room(uint64_t chunk_size) noexcept {
  return chunk_size - sizeof(format::log_link);
}

// Writes records, at least one, to chunks, and returns the entry's body. extend(n): the file
// offsets of n more chunks, in the order of links, the copies of each one after another. It may
// throw; nothing is written then. The chain is durable after the next fence.
format::log_chain write_chain(const chunk_space& space, medium::writer& w, const identity& whose,
                              uint64_t transaction, std::span<const std::byte> records,
                              const std::function<std::span<const uint64_t>(size_t)>& extend);

class chain_reader {
 public:
  // Bytes of the file.
  struct place {
    uint64_t offset, length;
  };

  // is_chunk(offset): whether a chunk of the file begins there, whatever it holds.
  chain_reader(const chunk_space& space, std::function<bool(uint64_t)> is_chunk, uint64_t budget)
      : space_(space), is_chunk_(std::move(is_chunk)), left_(budget) {}

  enum class outcome {
    valid,
    invalid,    // CHAIN-1
    exhausted,  // CHAIN-2
  };
  // Reads the records of a chained entry with this head and body. places: gets the ranges of all
  // copies added. Once the budget is exceeded, every call returns exhausted.
  outcome read(const format::log_entry& e, const format::log_chain& c, uint64_t links_max,
               uint64_t length_max, std::vector<std::byte>& records, std::vector<place>& places);

 private:
  const std::byte* link_at(const format::log_entry& e, uint64_t index, uint64_t offset,
                           uint64_t copy, format::log_link& link);

  chunk_space space_;
  std::function<bool(uint64_t)> is_chunk_;
  uint64_t left_;
  bool exhausted_ = false;
};

}  // namespace scute::core::log
