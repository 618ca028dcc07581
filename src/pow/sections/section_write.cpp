// SPDX-License-Identifier: BSD-3-Clause
// Writes a section as frames: one, or parts and a trailer (pow/sections/section.hpp).
#include <algorithm>
#include <cstring>
#include <string>

#include "pow/sections/batch.hpp"
#include "pow/sections/section.hpp"

namespace scute::core::pow {

// Whether the item is not written, since its object was changed again later.
bool section::skipped(const item& i) noexcept {
  const uint32_t now = i.e->state.load(std::memory_order_relaxed);
  if (!i.erases) return (now & entry_erased) != 0;
  if ((now & entry_erased) == 0) return true;
  return (now & entry_fresh) != 0 && (now & entry_streamed) == 0;
}

uint64_t section::measure(item& i) {
  i.size = i.erases ? 0 : i.t->size != 0 ? i.t->size : i.t->serialized_by->measure(i.index);
  const uint64_t whole = round_record(i.size);
  // Its dependencies take room too. An object must not be refused because of batches that others
  // have left undurable.
  if (!rest_on_.empty() && whole + frame_overhead + trailer_bytes() > s_.layout.frame_max()) {
    s_.sync(s_.writer_of(slot_));
    rest_on_.clear();
  }
  if (i.size > record_size_max || whole + frame_overhead + trailer_bytes() > s_.layout.frame_max())
    throw failure(SCUTE_E_RANGE,
                  "object " + std::to_string(i.index) + " of table " + i.t->name + " takes " +
                      std::to_string(i.size) + " bytes, more than a segment of " + s_.name +
                      " has room for (" + std::to_string(s_.layout.frame_max()) + ")");
  return whole;
}

uint64_t section::trailer_bytes() const noexcept {
  const uint64_t bytes =
      sizeof(format::frame_head) + rest_on_.size() * sizeof(dependency) + sizeof(uint64_t);
  return s_.layout.lines_of(bytes) * log::line_size;
}

void section::put_record(item& i) {
  const uint32_t tag = tag_of(i.e->state.load(std::memory_order_relaxed));
  std::byte* const to = add_record(image_, i.t->number, make_id(i.index, tag), i.size, i.erases);
  if (!i.erases && i.size != 0) i.t->serialized_by->encode(i.index, to, i.size);
}

uint32_t section::put_dependencies() {
  if (s_.limit.one_stream) return 0;  // the order in the one lane says it
  for (const dependency& d : rest_on_) add_dependency(image_, d.lane, d.number);
  return static_cast<uint32_t>(rest_on_.size());
}

// POW-3.
uint64_t section::version_of(lane& l, size_t from, size_t to) const noexcept {
  uint64_t version = l.clock;
  for (size_t k = from; k < to; ++k)
    if (!skipped(items_[k]))
      version = std::max(version, items_[k].e->version.load(std::memory_order_relaxed));
  return l.clock = version + 1;
}

// Writes the items from streamed_ on. (stream() has passed those before, and found nothing to write
// in them. A later change to one of their objects has its own item.)
void section::write_whole(lane& l) {
  log::segment_writer::start(image_);
  const uint32_t named = put_dependencies();
  const uint64_t version = version_of(l, streamed_, items_.size());
  for (size_t k = streamed_; k < items_.size(); ++k)
    if (!skipped(items_[k])) put_record(items_[k]);
  l.append(image_, frame_kind::whole, named, version, 0, how());
  for (size_t k = streamed_; k < items_.size(); ++k) {
    item& i = items_[k];
    if (skipped(i)) continue;
    i.segment = l.segment();
    i.version = version;
  }
}

// The same in parts. After each part there is room for a trailer, so that one can always be
// written.
void section::write_parts(lane& l) {
  // The sizes compared with it include the frame's head.
  const uint64_t most =
      s_.layout.frame_max() - (frame_overhead - sizeof(format::frame_head)) - trailer_bytes();
  while (streamed_ < items_.size()) {
    uint64_t bytes = sizeof(format::frame_head);
    size_t end = streamed_;
    for (; end < items_.size(); ++end) {
      if (skipped(items_[end])) continue;
      const uint64_t whole = measure(items_[end]);
      if (bytes + whole > most) break;
      bytes += whole;
    }
    if (bytes != sizeof(format::frame_head)) {
      if (parts_ == parts_max)
        throw failure(SCUTE_E_RANGE, "a section of " + s_.name + " has too many parts");
      s_.make_room(l, s_.layout.lines_of(bytes) * log::line_size + trailer_bytes(), kept(),
                   parts_ != 0, how());
      log::segment_writer::start(image_);
      const uint64_t version = version_of(l, streamed_, end);
      for (size_t k = streamed_; k < end; ++k)
        if (!skipped(items_[k])) put_record(items_[k]);
      l.append(image_, frame_kind::part, 0, version, parts_, how());
      ++parts_;
      for (size_t k = streamed_; k < end; ++k) {
        item& i = items_[k];
        if (skipped(i)) continue;
        i.segment = l.segment();
        i.version = version;
        i.e->state.fetch_or(entry_streamed, std::memory_order_relaxed);
      }
    }
    for (size_t k = streamed_; k < end; ++k)
      if (!items_[k].erases)
        items_[k].e->state.fetch_and(~uint32_t{entry_queued}, std::memory_order_relaxed);
    streamed_ = end;
  }
}

void section::write_trailer(lane& l, frame_kind kind) {
  log::segment_writer::start(image_);
  const uint32_t named = kind == frame_kind::commit ? put_dependencies() : 0;
  const uint64_t parts = parts_;
  std::memcpy(image_.extend(sizeof parts), &parts, sizeof parts);
  l.append(image_, kind, named, l.clock, parts_, how());
}

void section::write(lane& l) {
  uint64_t bytes = sizeof(format::frame_head) + rest_on_.size() * sizeof(dependency);
  bool any = parts_ != 0;
  for (size_t k = streamed_; k < items_.size(); ++k) {
    if (skipped(items_[k])) continue;
    bytes += measure(items_[k]);
    any = true;
  }
  if (!any) return;
  if (s_.limit.max_memory != 0) {
    int64_t more = 0;
    for (const item& i : items_) {
      if (skipped(i)) continue;
      const bool fresh = (i.e->state.load(std::memory_order_relaxed) & entry_fresh) != 0;
      more += int64_t{i.size} - static_cast<int64_t>(fresh ? 0 : i.e->bytes());
      if (fresh) more += state::per_object;
    }
    if (more > 0 && s_.memory() + static_cast<uint64_t>(more) > s_.limit.max_memory)
      throw failure(SCUTE_E_NOSPC, s_.name + " would hold more than its max_memory of " +
                                       std::to_string(s_.limit.max_memory) +
                                       " bytes; erase some objects, or open it with more");
  }
  const bool whole = parts_ == 0 && bytes + frame_overhead <= s_.layout.frame_max();
  if (whole) {
    s_.make_room(l, bytes, kept(), false, how());
  } else {
    write_parts(l);
    if (trailer_bytes() > l.room()) {  // more was named since the last part
      s_.sync(s_.writer_of(slot_));
      rest_on_.clear();
    }
  }
  begin_naming(l);
  if (whole)
    write_whole(l);
  else
    write_trailer(l, frame_kind::commit);
  wrote_ = true;
}

// From here to the batch's end the cleaner waits for this section. The section does not wait for
// the cleaner any more, since it has its room. Batches that are already durable are not named
// (POW-8).
void section::begin_naming(lane& l) noexcept {
  if (s_.limit.one_stream || rest_on_.empty()) return;
  l.naming.store(true, std::memory_order_seq_cst);
  rest_on_.leave([&](uint32_t lane_number, uint64_t number) {
    return s_.find_lane(lane_number)->durable() < number;
  });
}

void section::stream() {
  if (s_.limit.one_stream || streamed_ == items_.size()) return;
  lane& l = s_.lane_of(slot_);
  write_parts(l);
}

}  // namespace scute::core::pow
