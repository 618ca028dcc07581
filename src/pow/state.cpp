// SPDX-License-Identifier: BSD-3-Clause
#include "pow/state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/uncancelled.hpp"
#include "codec/checksum/crc32c.hpp"
#include "pow/file/seal.hpp"

namespace scute::core::pow {

void_head make_void_head(uint64_t salt) noexcept {
  void_head h{};
  h.magic = void_magic;
  h.salt = salt;
  h.checksum = codec::crc32c(0, &salt, sizeof salt);
  return h;
}

state::state(std::unique_ptr<medium::medium> m, std::string file, const limits& l)
    : medium(std::move(m)), name(std::move(file)), limit(l), read_only(medium->read_only()) {
  for (uint32_t i = 0; i < lanes_max; ++i) slots_[i].number = i;
}

void state::refuse_if_failed() const {
  if (!medium->failed()) return;
  throw_errno("make what was written to " + name +
                  " durable; nothing more is written to it: close the store and open it again",
              medium->failure());
}

bool state::read_segment(uint64_t offset, std::byte* to, size_t n) const noexcept {
  if (offset + n > file_end) return false;
  if (repaired.empty()) return medium->read(offset, to, n);
  const auto at =
      repaired.find(static_cast<uint32_t>((offset - first_segment) / head.segment_size));
  if (at == repaired.end()) return medium->read(offset, to, n);
  std::memcpy(to, at->second.data() + (offset - first_segment) % head.segment_size, n);
  return true;
}

const std::byte* state::view_segment(uint64_t offset, size_t) const noexcept {
  if (medium->what() != medium::kind::ram || !repaired.empty() || medium->any_revoked() ||
      file_end != UINT64_MAX)
    return nullptr;
  return medium->base() + offset;
}

void state::read_record(const location& where, std::byte* to, uint64_t n) const {
  const uint64_t base = space->place(where.segment).at[0];
  uint64_t at = where.inside;
  // Recovery has just read these bytes, so the device can deliver them. A system call for every
  // line would take several times as long as the rest of opening.
  const bool mapped = repaired.empty() && !medium->any_revoked() && file_end == UINT64_MAX &&
                      !space->note(where.segment).repaired.load(std::memory_order_relaxed);
  while (n != 0) {
    const uint64_t line = where.position + at / log::line_size, in_line = at % log::line_size;
    const bool tracks = layout.how() == log::redundancy::tracks;
    const uint64_t here = tracks ? std::min(n, log::line_size - in_line) : n;
    const uint64_t from = base + layout.offset_of(line) + in_line;
    if (mapped)
      std::memcpy(to, medium->base() + from, here);
    else if (!read_segment(from, to, here))
      throw failure(SCUTE_E_CORRUPT, "an object in segment " + std::to_string(where.segment) +
                                         " of " + name + " cannot be read");
    to += here;
    at += here;
    n -= here;
  }
}

void state::store_void_head(medium::writer& w, uint32_t s) const noexcept {
  const void_head h = make_void_head(salt);
  log::store_lines(w, medium->base(), layout, space->place(s), 0, std::as_bytes(std::span(&h, 1)));
}

void state::shrink(medium::writer& w) {
  const locked guard(head_lock);
  uint64_t to = space->count();
  while (to != 0 && space->note(static_cast<uint32_t>(to - 1)).what.load() == use::free) --to;
  // Planted: also removes the last segment in which something counts.
  to = std::max<uint64_t>(to + segments_spare, segments_least);
  if (to >= space->count() || !space->cut_to(to)) return;
  head.segments = to;
  write_head(w, head);
  refuse_if_failed();
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i)) l->forget_from(to);
  // The head says so already: leftover bytes only cost room.
  medium->cut(first_segment + to * head.segment_size);
}

void state::raise_tags(medium::writer& w, uint32_t tags) {
  const locked guard(head_lock);
  if (tags <= head.tags) return;
  head.tags = tags;
  write_head(w, head);
  refuse_if_failed();
  set_tags(tags);
}

lane& state::make_lane(uint32_t number) {
  const locked guard(lanes_lock_);
  if (lane_owners_[number] == nullptr) {
    lane_owners_[number] = std::make_unique<lane>(number, *medium, *space, identity(number));
    if (number != cleaner_lane) space->add_lane();
    lanes_[number].store(lane_owners_[number].get(), std::memory_order_release);
  }
  return *lane_owners_[number];
}

medium::writer& state::writer_of(thread_slot& s) {
  if (!limit.one_stream) return lane_of(s).w;
  if (s.own == nullptr) s.own = std::make_unique<medium::writer>(*medium);
  return *s.own;
}

// First reads the last finished batches, then writes back: a batch that another names is finished
// before it. So when a lane is looked at again, its finished batches include all that the first
// look has found. They may be undurable although the first look found them durable (POW-15).
void state::sync(medium::writer& w) {
  const uncancelled now;
  refuse_if_failed();
  std::array<uint64_t, lanes_max> numbers;
  for (uint32_t i = 0; i < lanes_max; ++i) {
    const lane* const l = find_lane(i);
    numbers[i] = l == nullptr ? 0 : l->finished();
    if (l != nullptr) switch_point();  // others get on with what this one has not looked at yet
  }
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i); l != nullptr && l->durable() < l->finished())
      l->write_back(w);
  w.fence(fence_site::pow_sync);
  refuse_if_failed();
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (lane* const l = find_lane(i); l != nullptr && l->durable() < numbers[i])
      l->confirm_to(numbers[i]);
  count.syncs.fetch_add(1, std::memory_order_relaxed);
}

table* state::find_table(uint32_t number) const noexcept {
  return number < tables_max ? tables_[number].load(std::memory_order_acquire) : nullptr;
}

table& state::table_at(uint32_t number) {
  if (table* const t = find_table(number)) return *t;
  throw failure(SCUTE_E_INVALID, "there is no table " + std::to_string(number) + " in " + name);
}

table& state::add_table(uint32_t number) {
  if (number >= tables_max)
    throw failure(SCUTE_E_RANGE,
                  "a store has at most " + std::to_string(tables_max - 1) + " tables");
  const locked guard(tables_lock_);
  auto& owner = table_owners_[number];
  if (owner == nullptr) {
    owner = std::make_unique<table>(number);
    tables_[number].store(owner.get(), std::memory_order_release);
  }
  return *owner;
}

uint64_t state::memory() const noexcept {
  int64_t sum = 0;
  for (uint32_t i = 0; i < lanes_max; ++i)
    if (const lane* const l = find_lane(i)) sum += l->memory.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : static_cast<uint64_t>(sum);
}

}  // namespace scute::core::pow
