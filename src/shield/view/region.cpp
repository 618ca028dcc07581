// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/region.hpp"

#include <sys/random.h>

#include <ctime>

#include "base/failure.hpp"
#include "base/rounding.hpp"

namespace scute::core::view {
namespace {

constexpr uint64_t counter_bytes = 192;
static_assert(counter_count * sizeof(uint64_t) <= counter_bytes);

struct places {
  uint64_t lists, stride, pending, in_set, pages, digests, end;
};

places places_of(const region_shape& s) {
  if (s.capacity == 0 || s.capacity > capacity_max || s.lists == 0 || s.lists > 4096 ||
      s.entries < 8 || s.entries > 65536 || (s.entries & (s.entries - 1)) != 0)
    throw failure(SCUTE_E_INVALID, "a view of this shape cannot be");
  const auto up = [](uint64_t n) { return (n + page_size - 1) / page_size * page_size; };
  const uint64_t lines = up(s.capacity) / line_size;
  places p{};
  p.lists = page_size;
  p.stride = up(counter_bytes + sizeof(flush_list) + uint64_t{s.entries} * sizeof(uint64_t));
  p.pending = p.lists + p.stride * s.lists;
  p.in_set = p.pending + up(lines / 8);
  p.pages = p.in_set + up(lines / 8);
  p.digests = p.pages + up(lines / page_lines);
  p.end = p.digests + up(lines * sizeof(uint64_t));
  return p;
}

}  // namespace

uint64_t region::size(const region_shape& s) {
  return places_of(s).end;
}

void region::format(std::span<std::byte> at, const region_shape& s, uint64_t file_size) {
  if (at.size() < size(s) || file_size > s.capacity)
    throw failure(SCUTE_E_INVALID, "the region of a view is too small for its file");
  auto& head = *reinterpret_cast<region_head*>(at.data());
  head.version = region_head::version_now;
  head.lists = s.lists;
  head.entries = s.entries;
  head.capacity = s.capacity;
  head.size.store(file_size);
  // If the kernel has no random bytes, an address and a time are better than nothing.
  if (::getrandom(&head.seed, sizeof head.seed, 0) != sizeof head.seed)
    head.seed = reinterpret_cast<uintptr_t>(&head) ^ static_cast<uint64_t>(::clock());
  head.mark.store(region_head::mark_value);  // REGION-1
}

region::region(std::span<std::byte> at) {
  if (at.size() < page_size || reinterpret_cast<uintptr_t>(at.data()) % page_size != 0)
    throw failure(SCUTE_E_INVALID, "no region of a view lies there");
  head_ = reinterpret_cast<region_head*>(at.data());
  if (head_->mark.load() != region_head::mark_value)
    throw failure(SCUTE_E_CORRUPT, "the region of a view was never completed");
  if (head_->version != region_head::version_now)
    throw failure(SCUTE_E_VERSION, "the region of a view is of another release");
  shape_ = {head_->capacity, head_->lists, head_->entries};
  const places p = places_of(shape_);
  if (at.size() < p.end || file_size() > shape_.capacity)
    throw failure(SCUTE_E_CORRUPT, "the region of a view has a size that is not its own");
  const auto words = [&](uint64_t offset) {
    return reinterpret_cast<std::atomic<uint64_t>*>(at.data() + offset);
  };
  key_ = digest_key(head_->seed);
  lists_ = at.data() + p.lists;
  list_stride_ = p.stride;
  pending_ = words(p.pending);
  in_set_ = words(p.in_set);
  pages_ = reinterpret_cast<std::atomic<page_state>*>(at.data() + p.pages);
  digests_ = words(p.digests);
}

flush_list& region::list(unsigned i) const noexcept {
  return *reinterpret_cast<flush_list*>(lists_ + list_stride_ * i + counter_bytes);
}

std::atomic<uint64_t>* region::counters(unsigned list) const noexcept {
  return reinterpret_cast<std::atomic<uint64_t>*>(lists_ + list_stride_ * list);
}

}  // namespace scute::core::view
