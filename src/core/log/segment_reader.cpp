// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/segment_reader.hpp"

#include <algorithm>
#include <utility>

#include "codec/checksum/crc32c.hpp"

namespace scute::core::log {
namespace {

// A frame is summed once, and again without each track if it is damaged. So no more passes over a
// segment are needed, whatever Scute wrote and whatever became of it.
constexpr uint64_t passes_max = track_count + 2;
constexpr uint32_t no_track = UINT32_MAX;

uint64_t lines_in(uint64_t size) noexcept {
  return (size + line_size - 1) / line_size;
}

}  // namespace

segment_reader::segment_reader(const segment_layout& layout, uint64_t salt, read_fn read,
                               view_fn view)
    : layout_(layout), salt_(salt), read_(std::move(read)), view_(std::move(view)) {}

void segment_reader::load(const segment& s) {
  const uint64_t pages = layout_.size() / segment_page;
  for (uint32_t c = 0; c < layout_.copies(); ++c) {
    held& h = held_[c];
    h.lost.assign(pages, false);
    if (without_ == nowhere && view_) {
      h.at = view_(s.at[c], layout_.size());
      if (h.at != nullptr) continue;
    }
    h.bytes.resize(layout_.size());
    h.at = h.bytes.data();
    if (without_ == nowhere && read_(s.at[c], h.bytes.data(), layout_.size())) continue;
    for (uint64_t p = 0; p < pages; ++p) {
      const uint64_t from = s.at[c] + p * segment_page;
      std::byte* const to = h.bytes.data() + p * segment_page;
      h.lost[p] = from == without_ || !read_(from, to, segment_page);
      if (h.lost[p]) std::fill_n(to, segment_page, std::byte{0});
    }
  }
  budget_ = passes_max * layout_.size();
}

bool segment_reader::is_lost(uint32_t copy, uint64_t offset, uint64_t n) const noexcept {
  for (uint64_t p = offset / segment_page; p <= (offset + n - 1) / segment_page; ++p)
    if (held_[copy].lost[p]) return true;
  return false;
}

bool segment_reader::is_head(const format::segment_head& h) const noexcept {
  return h.magic == format::segment_magic && h.checksum == segment_head_checksum(h) &&
         h.salt == salt_ && h.size == layout_.size() &&
         h.redundancy == static_cast<uint32_t>(layout_.how());
}

bool segment_reader::find_head(segment_contents& c) const noexcept {
  // The XOR of a row with one line is that line.
  const std::pair<uint32_t, uint64_t> places[] = {
      {0, 0},
      {layout_.copies() - 1, layout_.how() == redundancy::tracks ? layout_.sum_offset_of(0) : 0}};
  for (const auto& [copy, offset] : places) {
    format::segment_head h;
    std::memcpy(&h, at(copy, offset), sizeof h);
    if (is_lost(copy, offset, sizeof h) || !is_head(h)) {
      c.head_flawed = true;
    } else if (!c.head ||
               std::pair(c.head->epoch, c.head->generation) < std::pair(h.epoch, h.generation)) {
      // Two uses: the later one counts, as a crash may have left its head in one copy only.
      c.head_flawed = c.head_flawed || c.head.has_value();
      c.head = h;
    } else if (std::memcmp(&*c.head, &h, sizeof h) != 0) {
      c.head_flawed = true;
    }
  }
  return c.head.has_value();
}

void segment_reader::find_end(segment_contents& c) const noexcept {
  if (!layout_.has_end()) return;
  // As for the head: the XOR of a row with one line is that line.
  const uint64_t position = layout_.lines();
  const std::pair<uint32_t, uint64_t> places[] = {
      {0, layout_.offset_of(position)},
      {layout_.copies() - 1, layout_.how() == redundancy::tracks ? layout_.sum_offset_of(position)
                                                                 : layout_.offset_of(position)}};
  for (const auto& [copy, offset] : places) {
    format::segment_end e;
    std::memcpy(&e, at(copy, offset), sizeof e);
    if (is_lost(copy, offset, sizeof e) || e.magic != format::segment_end_magic ||
        e.checksum != segment_end_checksum(seed_, e) || e.end > position)
      c.stated_flawed = true;
    else if (!c.stated)
      c.stated = e;
  }
}

bool segment_reader::fits(uint64_t position, const format::frame_head& h) const noexcept {
  return h.size >= sizeof h && h.size <= (layout_.lines() - position) * line_size &&
         h.checksum == frame_head_checksum(seed_, position, h);
}

// Returns false if too many bytes have been read (SEG-6).
bool segment_reader::charge(uint64_t size) noexcept {
  if (size > budget_) return false;
  budget_ -= size;
  return true;
}

bool segment_reader::sums(const format::frame_head& h, const std::byte* lines) noexcept {
  return h.body_checksum == codec::crc32c(0, lines + sizeof h, h.size - sizeof h);
}

bool segment_reader::find_in_copies(uint64_t position, frame& f) {
  const uint64_t offset = position * line_size;
  bool found = false;
  f.flawed = false;
  for (uint32_t c = 0; c < layout_.copies(); ++c) {
    format::frame_head h;
    std::memcpy(&h, at(c, offset), sizeof h);
    if (is_lost(c, offset, sizeof h) || !fits(position, h) || !charge(h.size) ||
        is_lost(c, offset, h.size) || !sums(h, at(c, offset))) {
      f.flawed = true;
      continue;
    }
    const std::span<const std::byte> lines(at(c, offset), lines_in(h.size) * line_size);
    if (found) {
      f.flawed = f.flawed || !std::ranges::equal(lines, f.lines);
      continue;
    }
    f.head = h;
    f.lines = lines;
    found = true;
  }
  return found;
}

// Rebuilds the head from the XOR and the other lines of its row. Their number is in the head, so
// all are tried.
bool segment_reader::head_without_first(uint64_t position, format::frame_head& h) const noexcept {
  std::byte line[line_size];
  if (is_lost(0, layout_.sum_offset_of(position), line_size)) return false;
  std::memcpy(line, at(0, layout_.sum_offset_of(position)), line_size);
  for (uint64_t n = 1; n <= track_count; ++n) {
    if (n != 1) {
      const uint64_t offset = layout_.offset_of(position + n - 1);
      if (is_lost(0, offset, line_size)) return false;
      codec::xor_into(line, at(0, offset), line_size);
    }
    std::memcpy(&h, line, sizeof h);
    if (fits(position, h) && std::min<uint64_t>(lines_in(h.size), track_count) == n) return true;
  }
  return false;
}

// Collects the lines of a frame, those of track `without` from the XOR. Returns false if a line
// that this needs is lost.
bool segment_reader::assemble(uint64_t position, uint64_t size, uint32_t without) {
  const uint64_t n = lines_in(size);
  assembled_.resize(n * line_size);
  for (uint64_t row = 0; row < n; row += track_count) {
    const uint64_t end = std::min<uint64_t>(row + track_count, n);
    std::byte* missing = nullptr;
    for (uint64_t i = row; i < end; ++i) {
      std::byte* const to = assembled_.data() + i * line_size;
      if (i - row == without) {
        missing = to;
        continue;
      }
      const uint64_t offset = layout_.offset_of(position + i);
      if (is_lost(0, offset, line_size)) return false;
      std::memcpy(to, at(0, offset), line_size);
    }
    if (missing == nullptr) continue;
    const uint64_t offset = layout_.sum_offset_of(position + row);
    if (is_lost(0, offset, line_size)) return false;
    std::memcpy(missing, at(0, offset), line_size);
    for (uint64_t i = row; i < end; ++i) {
      std::byte* const other = assembled_.data() + i * line_size;
      if (other != missing) codec::xor_into(missing, other, line_size);
    }
  }
  return true;
}

// Whether the XOR lines of an assembled frame are right.
bool segment_reader::sums_are_right(uint64_t position, uint64_t size) const noexcept {
  const uint64_t n = lines_in(size);
  for (uint64_t row = 0; row < n; row += track_count) {
    const uint64_t offset = layout_.sum_offset_of(position + row);
    if (is_lost(0, offset, line_size)) return false;
    std::byte sum[line_size];
    std::memcpy(sum, at(0, offset), line_size);
    for (uint64_t i = row; i < std::min<uint64_t>(row + track_count, n); ++i)
      codec::xor_into(sum, assembled_.data() + i * line_size, line_size);
    if (!codec::is_zero(sum, line_size)) return false;
  }
  return true;
}

bool segment_reader::find_in_tracks(uint64_t position, frame& f) {
  const auto accept = [&](const format::frame_head& h, uint32_t without) {
    if (!charge(h.size) || !assemble(position, h.size, without) || !sums(h, assembled_.data()))
      return false;
    // The body's checksum does not cover the head's bytes, which the XOR may have wrong.
    std::memcpy(assembled_.data(), &h, sizeof h);
    f.head = h;
    f.lines = {assembled_.data(), lines_in(h.size) * line_size};
    f.flawed = without != no_track || !sums_are_right(position, h.size);
    return true;
  };
  format::frame_head h;
  const uint64_t offset = layout_.offset_of(position);
  std::memcpy(&h, at(0, offset), sizeof h);
  if (!is_lost(0, offset, sizeof h) && fits(position, h)) {
    if (accept(h, no_track)) return true;
    for (uint32_t t = 1; t < std::min<uint64_t>(lines_in(h.size), track_count); ++t)
      if (accept(h, t)) return true;
    // The head may be intact, and the rest of its line not.
    return accept(h, 0);
  }
  return head_without_first(position, h) && accept(h, 0);
}

bool segment_reader::find(uint64_t position, frame& f) {
  f.position = position;
  return layout_.how() == redundancy::tracks ? find_in_tracks(position, f)
                                             : find_in_copies(position, f);
}

// Whether more lines of the row are unreadable than its redundancy can rebuild.
bool segment_reader::is_blind(uint64_t position) const noexcept {
  uint32_t lost = 0;
  if (layout_.how() != redundancy::tracks) {
    for (uint32_t c = 0; c < layout_.copies(); ++c)
      lost += is_lost(c, position * line_size, line_size) ? 1 : 0;
    return lost == layout_.copies();
  }
  for (uint64_t t = 0; t < track_count; ++t)
    lost += is_lost(0, layout_.offset_of(position + t), line_size) ? 1 : 0;
  lost += is_lost(0, layout_.sum_offset_of(position), line_size) ? 1 : 0;
  return lost > 1;
}

segment_contents segment_reader::read(const segment& s, const frame_fn& fn) {
  segment_contents c;
  load(s);
  if (!find_head(c)) return c;
  seed_ = seed_of(*c.head);
  find_end(c);
  c.end = layout_.step();
  frame f{};
  f.of = &*c.head;
  for (uint64_t position = layout_.step(); position < layout_.lines();) {
    if (!find(position, f)) {
      f.behind_gap = true;
      c.blind += is_blind(position) ? 1 : 0;
      position += layout_.step();
      continue;
    }
    ++c.frames;
    c.flawed += f.flawed ? 1 : 0;
    c.gaps += f.behind_gap ? 1 : 0;
    fn(f);
    f.behind_gap = false;
    position += layout_.lines_of(f.head.size);
    c.end = position;
  }
  return c;
}

std::optional<format::segment_head> segment_reader::read_head(const segment& s) {
  const uint64_t last = layout_.how() == redundancy::tracks
                            ? layout_.sum_offset_of(0) / segment_page * segment_page
                            : 0;
  for (uint32_t c = 0; c < layout_.copies(); ++c) {
    held& h = held_[c];
    h.bytes.resize(layout_.size());
    h.at = h.bytes.data();
    h.lost.assign(layout_.size() / segment_page, true);
    for (const uint64_t p : {uint64_t{0}, last})
      h.lost[p / segment_page] = !read_(s.at[c] + p, h.bytes.data() + p, segment_page);
  }
  segment_contents c;
  find_head(c);
  return c.head;
}

segment_contents segment_reader::rebuild(const segment& s, uint32_t copy, uint64_t offset,
                                         std::span<std::byte, segment_page> page) {
  std::ranges::fill(page, std::byte{0});
  const auto put = [&](uint32_t c, uint64_t at, const std::byte* from, size_t n) {
    const uint64_t begin = std::max(at, offset), end = std::min(at + n, offset + segment_page);
    if (c == copy && begin < end)
      std::memcpy(page.data() + (begin - offset), from + (begin - at), end - begin);
  };
  without_ = s.at[copy] + offset;
  segment_contents c;
  try {
    c = read(s, [&](const frame& f) { layout_.for_each_store(f.position, f.lines, put); });
  } catch (...) {
    without_ = nowhere;
    throw;
  }
  without_ = nowhere;
  if (c.head) layout_.for_each_store(0, std::as_bytes(std::span(&*c.head, 1)), put);
  return c;
}

}  // namespace scute::core::log
