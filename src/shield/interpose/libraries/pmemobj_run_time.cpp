// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/pmemobj_run_time.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/rounding.hpp"
#include "shield/interpose/libraries/loaded_objects.hpp"

namespace scute::core::interpose {
namespace {

constexpr uint64_t line = 64;
constexpr char pool_mark[] = "PMEMOBJ";
constexpr uint64_t run_time_begin = 0x1a00, run_time_end = 0x2000;
constexpr uint64_t heap_offset_at = 0x1410;
constexpr char heap_mark[] = "MEMORY_HEAP_HDR";
constexpr uint64_t heap_header = 1024;
// A zone is its header, the headers of its chunks, and the chunks.
constexpr uint64_t zone_header = 64, zone_chunks = 65528, chunk_header = 8, chunk_size = 256 * 1024;
constexpr uint64_t zone_size = zone_header + zone_chunks * (chunk_header + chunk_size);
// A chunk's header: its type, flags, and a length: that of a run of chunks or, inside it, the
// distance to its head.
constexpr uint64_t footer = 1, run = 4, run_data = 5;
constexpr uint64_t type_of(uint64_t header) noexcept {
  return header & 0xffff;
}
constexpr uint64_t length_of(uint64_t header) noexcept {
  return header >> 32;
}
constexpr uint64_t aligned_flag = uint64_t{4} << 16, flexible_flag = uint64_t{8} << 16;
// A divided chunk begins with the size of its blocks, an alignment, and a bit for each block (1:
// taken). Without the flag there are 38 words of bits.
constexpr uint64_t run_header = 16, word_bytes = 8, word_bits = 64, usual_words = 38;

// A lane has three logs. Each begins with a line whose second word is the place of the log that
// continues it.
constexpr uint64_t lanes_at = 0x1400, lane_count_at = 0x1408, lane_size = 3072, lanes_max = 1024;
constexpr uint64_t logs_of_lane[] = {0, 256, 960}, next_log_at = 8, log_length_at = 16,
                   log_end_at = 40;
constexpr unsigned chained_max = 64;

struct image_range {
  uintptr_t begin = 0, end = 0;
};

int note_library(dl_phdr_info* object, size_t, void* to) noexcept {
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  if (!name_of(path).starts_with("libpmemobj.so")) return 0;
  auto& found = *static_cast<image_range*>(to);
  found.begin = UINTPTR_MAX;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    found.begin = std::min<uintptr_t>(found.begin, object->dlpi_addr + part.p_vaddr);
    found.end = std::max<uintptr_t>(found.end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  return 1;
}

}  // namespace

void pmemobj_run_time::find_library() noexcept {
  image_range library;
  ::dl_iterate_phdr(note_library, &library);
  library_begin_ = library.begin;
  library_end_ = library.end;
}

// The program may be storing there at this moment.
uint64_t pmemobj_run_time::word(uint64_t offset) const noexcept {
  return std::atomic_ref(*const_cast<uint64_t*>(reinterpret_cast<const uint64_t*>(bytes_ + offset)))
      .load(std::memory_order_relaxed);
}

bool pmemobj_run_time::has_footer(uint64_t offset) const noexcept {
  for (uint64_t at = offset; at < offset + line; at += chunk_header)
    if (type_of(word(at)) == footer) return true;
  return false;
}

bool pmemobj_run_time::has_library_address(uint64_t offset) const noexcept {
  for (uint64_t at = offset; at < offset + line; at += sizeof(uint64_t))
    if (const uint64_t w = word(at); w >= library_begin_ && w < library_end_) return true;
  return false;
}

bool pmemobj_run_time::is_in_free_blocks(uint64_t zone, uint64_t offset) const noexcept {
  const uint64_t headers = zone + zone_header, chunks = headers + zone_chunks * chunk_header;
  const auto header_of = [&](uint64_t chunk) {
    const uint64_t at = headers + chunk * chunk_header;
    return view_->is_loaded(at, chunk_header) ? word(at) : 0;
  };
  uint64_t head = (offset - chunks) / chunk_size;
  uint64_t h = header_of(head);
  if (type_of(h) == run_data && length_of(h) <= head) h = header_of(head -= length_of(h));
  const uint64_t begin = chunks + head * chunk_size;
  if (type_of(h) != run || (h & aligned_flag) != 0 || length_of(h) == 0 ||
      !view_->is_loaded(begin, run_header))
    return false;
  const uint64_t block = word(begin), room = length_of(h) * chunk_size - run_header;
  if (block == 0 || block > room) return false;
  uint64_t words = usual_words;
  if ((h & flexible_flag) != 0) {
    // As many words as make them end, together with the header, at a line's end.
    const uint64_t all = (room / block + word_bits - 1) / word_bits + run_header / word_bytes;
    words = round_up(all, line / word_bytes) - run_header / word_bytes;
  }
  const uint64_t bits = begin + run_header, blocks = bits + words * word_bytes;
  if (offset < blocks || !view_->is_loaded(bits, words * word_bytes)) return false;
  for (uint64_t i = (offset - blocks) / block; i <= (offset + line - 1 - blocks) / block; ++i)
    if (i / word_bits >= words ||
        (word(bits + i / word_bits * word_bytes) >> i % word_bits & 1) != 0)
      return false;
  return true;
}

bool pmemobj_run_time::is_head_of_log(uint64_t offset) const noexcept {
  // A head of a log ends with zeros, and has a length in whole lines. So the chains are followed
  // for few lines.
  for (uint64_t at = offset + log_end_at; at < offset + line; at += word_bytes)
    if (word(at) != 0) return false;
  if (word(offset + log_length_at) % line != 0) return false;
  const uint64_t lanes = word(lanes_at), count = std::min(word(lane_count_at), lanes_max);
  const uint64_t size = view_->size();
  if (lanes % line != 0 || lanes > size || size - lanes < count * lane_size ||
      !view_->is_loaded(lanes, count * lane_size))
    return false;
  for (uint64_t lane = lanes; lane < lanes + count * lane_size; lane += lane_size)
    for (const uint64_t log : logs_of_lane) {
      uint64_t at = lane + log;
      for (unsigned i = 0; i < chained_max && at != 0; ++i) {
        if (at == offset) return true;
        if (at >= size || !view_->is_loaded(at, line)) break;
        at = round_up(word(at + next_log_at), line);
      }
    }
  return false;
}

bool pmemobj_run_time::has(uint64_t offset) const noexcept {
  if (view_ == nullptr || offset < run_time_begin || !view_->is_loaded(0, run_time_end) ||
      std::memcmp(bytes_, pool_mark, sizeof pool_mark) != 0)
    return false;
  if (offset < run_time_end || is_head_of_log(offset)) return true;
  const uint64_t heap = word(heap_offset_at);
  if (heap < run_time_end || heap % line != 0 || heap > offset || offset - heap < heap_header ||
      !view_->is_loaded(heap, heap_header) ||
      std::memcmp(bytes_ + heap, heap_mark, sizeof heap_mark) != 0)
    return false;
  const uint64_t inside = (offset - heap - heap_header) % zone_size;
  if (inside < zone_header) return false;
  if (inside < zone_header + zone_chunks * chunk_header) return has_footer(offset);
  return has_library_address(offset) || is_in_free_blocks(offset - inside, offset);
}

}  // namespace scute::core::interpose
