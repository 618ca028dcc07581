// SPDX-License-Identifier: BSD-3-Clause
#include "log_picture.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

namespace scute_campaign {

namespace {

constexpr uint64_t line = 64, page = 4096, frame_head = 32;
constexpr uint64_t heads[] = {0, page}, truncation_points[] = {2 * page, 3 * page},
                   chunks_begin = 4 * page;
constexpr uint32_t head_magic = 0x67655353, truncation_magic = 0x486f727a;  // "SSeg", "Horz"
constexpr uint64_t lanes_offset_at = 136, truncation_in_lane = 32;  // of the superblock; of a lane
constexpr unsigned tracks = 8;

}  // namespace

template <typename T>
T log_picture::number(uint64_t at) const noexcept {
  T n{};
  if (at + sizeof n <= file_.size()) std::memcpy(&n, &file_[at], sizeof n);
  return n;
}

// A process that was killed may have stored the first half of one.
bool log_picture::has_head(uint64_t at) const noexcept {
  return number<uint32_t>(at) == head_magic && number<uint64_t>(at + 40) != 0;
}

log_picture::log_picture(std::span<const std::byte> file, log_kind kind,
                         std::span<const uint64_t> chunks)
    : file_(file.begin(), file.end()), kind_(kind) {
  look_for_segments(chunks);
  look_for_frames();
}

void log_picture::look_for_segments(std::span<const uint64_t> chunks) {
  std::vector<uint64_t> all(chunks.begin(), chunks.end());
  if (kind_ != log_kind::tracks) {
    const uint64_t newest =
        number<uint64_t>(heads[1] + 40) > number<uint64_t>(heads[0] + 40) ? heads[1] : heads[0];
    segment_size_ = number<uint64_t>(newest + 48);
    chunk_size_ = number<uint64_t>(newest + 56);
    for (uint64_t i = 0; i < number<uint32_t>(newest + 64); ++i)
      all.push_back(chunks_begin + i * chunk_size_);
    if (number<uint32_t>(newest + 72) != (kind_ == log_kind::two_copies ? 2 : 1))
      throw std::runtime_error("the log has another redundancy than was asked for");
  } else {
    // As in the first head that there is.
    for (const uint64_t c : all)
      if (has_head(c)) segment_size_ = number<uint64_t>(c + 40);
    chunk_size_ = segment_size_;
    if (segment_size_ == 0) throw std::runtime_error("nothing was ever written to the log");
    for (const uint64_t c : all)
      if (has_head(c) && number<uint32_t>(c + 36) != 3)
        throw std::runtime_error("the log has no tracks");
  }
  const size_t copies = kind_ == log_kind::two_copies ? 2 : 1;
  for (size_t c = 0; c + copies <= all.size(); c += copies)
    for (uint64_t at = 0; at + segment_size_ <= chunk_size_; at += segment_size_) {
      segment s{{all[c] + at, copies == 2 ? all[c + 1] + at : 0}, false, 0};
      s.has_head = has_head(s.at[0]);
      s.lane = number<uint32_t>(s.at[0] + 32);
      segments_.push_back(s);
    }
}

uint64_t log_picture::line_at(size_t i, uint64_t n, unsigned copy) const noexcept {
  if (kind_ != log_kind::tracks) return segments_[i].at[copy] + n * line;
  const uint64_t track = segment_size_ / (tracks + 1) / page * page;
  return segments_[i].at[0] + n % tracks * track + n / tracks * line;
}

uint64_t log_picture::sum_at(size_t i, uint64_t n) const noexcept {
  const uint64_t track = segment_size_ / (tracks + 1) / page * page;
  return segments_[i].at[0] + tracks * track + n / tracks * line;
}

// Of all valid ones the greatest.
uint64_t log_picture::truncation_point() const noexcept {
  uint64_t highest = 0;
  const auto words = [&](uint64_t at) {
    if (number<uint32_t>(at + 12) == truncation_magic)
      highest = std::max(highest, number<uint64_t>(at));
  };
  if (kind_ == log_kind::tracks) {
    const uint64_t lane = number<uint64_t>(lanes_offset_at);
    words(lane + truncation_in_lane);
    words(lane + truncation_in_lane + 16);
  } else {
    for (const uint64_t at : truncation_points) words(at), words(at + line);
  }
  for (size_t i = 0; i < segments_.size(); ++i)
    if (segments_[i].has_head) highest = std::max(highest, number<uint64_t>(head_at(i) + 48));
  return highest;
}

// Records of an earlier use of a segment are not above the truncation point in its head.
void log_picture::look_for_frames() {
  const uint64_t highest = truncation_point();
  const bool rows = kind_ == log_kind::tracks;
  const uint64_t step = rows ? tracks : 1;
  const uint64_t lines =
      rows ? segment_size_ / (tracks + 1) / page * page / line * tracks : segment_size_ / line;
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (!segments_[i].has_head) continue;
    uint64_t before = number<uint64_t>(head_at(i) + 48) + 1;
    for (uint64_t at = step; at < lines;) {
      const uint64_t head = line_at(i, at, 0);
      const uint64_t size = number<uint32_t>(head + 8), sequence = number<uint64_t>(head + 16);
      if (size < frame_head || (size + line - 1) / line > lines - at || sequence < before) break;
      if (sequence > highest) live_.push_back(frames_.size());
      frames_.push_back({i, at, size, sequence, sequence > highest});
      before = sequence;
      at = (at + (size + line - 1) / line + step - 1) / step * step;
    }
  }
}

std::vector<log_range> log_picture::all() const {
  if (kind_ != log_kind::tracks) return {{0, file_.size()}};
  std::vector<log_range> found;
  for (const segment& s : segments_) found.push_back({s.at[0], segment_size_});
  return found;
}

std::vector<log_range> log_picture::part(unsigned number) const {
  std::vector<log_range> found;
  if (kind_ != log_kind::tracks) {
    found.push_back({heads[number % 2], page});
    found.push_back({truncation_points[number % 2], page});
  }
  const uint64_t track = segment_size_ / (tracks + 1) / page * page;
  for (const segment& s : segments_) {
    if (kind_ == log_kind::tracks)
      found.push_back({s.at[0] + number % (tracks + 1) * track, track});
    else if (kind_ == log_kind::two_copies)
      found.push_back({s.at[number % 2], segment_size_});
  }
  return found;
}

uint64_t log_picture::line_of_frame(uint64_t which, uint64_t where) const {
  if (live_.empty()) return head_at(which % segments_.size());
  const frame& f = frames_[live_[which % live_.size()]];
  const uint64_t lines = (f.size + line - 1) / line, n = f.position + where % lines;
  if (kind_ == log_kind::tracks && where / lines % 9 == 0) return sum_at(f.segment, n);
  return line_at(f.segment, n, kind_ == log_kind::two_copies ? where / lines % 2 : 0);
}

bool log_picture::differs(std::span<const std::byte> after, uint64_t at,
                          uint64_t n) const noexcept {
  return at + n > after.size() || std::memcmp(&after[at], &file_[at], n) != 0;
}

log_picture::hit log_picture::look(std::span<const std::byte> after, size_t i, uint64_t position,
                                   uint64_t size) const noexcept {
  bool any = false, beyond = false;
  std::set<uint64_t> hit_tracks;
  for (uint64_t k = 0; k * line < size; ++k) {
    const uint64_t n = position + k, bytes = std::min(line, size - k * line);
    if (kind_ != log_kind::tracks) {
      const bool first = differs(after, line_at(i, n, 0), bytes);
      const bool second =
          kind_ == log_kind::one_copy ? first : differs(after, line_at(i, n, 1), bytes);
      any = any || first || second;
      beyond = beyond || (first && second);
      continue;
    }
    if (k % tracks == 0 && differs(after, sum_at(i, n), line)) hit_tracks.insert(tracks);
    if (differs(after, line_at(i, n, 0), bytes)) hit_tracks.insert(n % tracks);
  }
  // A frame is read without one of the tracks, in all of its rows.
  any = any || !hit_tracks.empty();
  beyond = beyond || hit_tracks.size() > 1;
  return beyond ? hit::beyond : any ? hit::in_part : hit::no;
}

log_picture::prospects log_picture::predict(std::span<const std::byte> after,
                                            uint32_t lanes) const {
  prospects p;
  const auto both_pages = [&](const uint64_t(&at)[2]) {
    return kind_ != log_kind::tracks && differs(after, at[0], 2 * line) &&
           differs(after, at[1], 2 * line);
  };
  p.opens = !both_pages(heads);
  p.intact = p.opens && !both_pages(truncation_points);
  std::vector<hit> segment_heads, hits;
  for (size_t i = 0; i < segments_.size(); ++i) {
    segment_heads.push_back(look(after, i, 0, line));
    p.quiet = p.quiet && segment_heads.back() != hit::beyond;
  }
  for (const frame& f : frames_) {
    hits.push_back(look(after, f.segment, f.position, f.size));
    // A frame of which one copy lacks this and the other one that: it is there, or is not.
    bool copies[2] = {};
    for (const unsigned c : {0U, 1U})
      for (uint64_t k = 0; kind_ == log_kind::two_copies && k * line < f.size && !copies[c]; ++k)
        copies[c] = differs(after, line_at(f.segment, f.position + k, c), line);
    const bool whole = hits.back() != hit::beyond && !(copies[0] && copies[1]);
    if (f.live) p.intact = p.intact && whole && segment_heads[f.segment] != hit::beyond;
    p.quiet = p.quiet && whole;
  }
  p.quiet = p.quiet && p.intact;
  // A gap before a frame that was fenced: so many later ones of its stream are there (GAP-1,
  // GAP-2). One more may be torn, of a transaction that was under way when the process was killed.
  const size_t later = kind_ == log_kind::tracks ? 1 : lanes + 1;
  for (size_t k = 0; k < frames_.size(); ++k) {
    const segment& s = segments_[frames_[k].segment];
    if (!frames_[k].live || hits[k] != hit::beyond ||
        segment_heads[frames_[k].segment] != hit::no || s.lane >= lanes)
      continue;
    for (size_t g = k + 1; g < frames_.size() && frames_[g].segment == frames_[k].segment; ++g) {
      if (hits[g] != hit::no) continue;
      std::set<uint64_t> behind;
      for (size_t x = 0; x < frames_.size(); ++x)
        if (hits[x] == hit::no && segment_heads[frames_[x].segment] == hit::no &&
            segments_[frames_[x].segment].lane == s.lane &&
            frames_[x].sequence > frames_[g].sequence)
          behind.insert(frames_[x].sequence);
      p.reported = p.reported || behind.size() >= later;
    }
  }
  return p;
}

}  // namespace scute_campaign
