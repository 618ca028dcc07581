// SPDX-License-Identifier: BSD-3-Clause
#include "spec_log.hpp"

#include <algorithm>

#include "base/rounding.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/log/segment_reader.hpp"

namespace scute::fuzz {
namespace {

void change(open_pool& p, const std::vector<uint64_t>& oids) {
  scute_tx* tx = nullptr;
  void* to = nullptr;
  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  need(scute_tx_open(tx, oids[1], &to) == 0, "open");
  paint(to, 100, 91);
  need(scute_tx_add_range(tx, oids[5], 4000, 300, &to) == 0, "range");
  paint(to, 300, 92);
  need(scute_tx_free(tx, oids[0]) == 0, "free");
  need(scute_tx_commit(tx) == 0, "commit");
}

// Writes a change that is larger than a segment, and larger than any change that is logged.
void change_much(open_pool& p, const std::vector<uint64_t>& oids) {
  scute_tx* tx = nullptr;
  void* to = nullptr;
  scute_oid fresh = 0;
  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  need(scute_tx_open(tx, oids[5], &to) == 0, "open");
  paint(to, 9000, 94);
  need(scute_tx_alloc(tx, 40000, type_plain, &fresh, &to) == 0, "alloc");
  paint(to, 40000, 95);
  need(scute_tx_commit(tx) == 0, "commit");
}

uint64_t list_place_size(const pool::geometry& g) {
  return round_down((format::lane_undo_offset(g.lane_size) - format::lane_log_offset) / 2, 64);
}

uint32_t list_checksum(const bytes& content, uint64_t at, uint64_t room) {
  format::segment_list_head h;
  std::memcpy(&h, &content[at], sizeof h);
  const uint64_t n = std::min<uint64_t>(sizeof h + uint64_t{h.chunks} * 8, room);
  return codec::crc32c(0, &content[at] + sizeof h.checksum, n - sizeof h.checksum);
}

// The newest list of the image, whose lists are noted.
engine::segment_list find_lists(base_image& image) {
  const pool::geometry& g = image.s->geo;
  engine::segment_list best;
  const uint64_t room = list_place_size(g);
  for (uint32_t r = 0; r < g.lane_replicas; ++r)
    for (uint64_t which = 0; which < 2; ++which) {
      const uint64_t at = g.lane_offset(0, r) + format::lane_log_offset + which * room;
      format::segment_list_head h;
      std::memcpy(&h, &image.content[at], sizeof h);
      if (h.magic != format::segment_list_magic) continue;
      image.undo.push_back({at, sizeof h + uint64_t{h.chunks} * 8, room});
      if (h.number <= best.number) continue;
      best = {h.number, h.segment_size, static_cast<log::redundancy>(h.redundancy), h.kept,
              std::vector<uint64_t>(h.chunks)};
      std::memcpy(best.chunks.data(), &image.content[at + sizeof h], h.chunks * sizeof(uint64_t));
    }
  need(best.number != 0, "an image of engine spec has no list of segments");
  return best;
}

// The lines of a segment in tracks: of its head, and of its frames, their first ones first.
void find_lines(base_image& image, log::segment_reader& reader, const log::segment_layout& layout,
                uint64_t begin) {
  std::vector<std::pair<uint64_t, uint64_t>> others;  // of frames: their line, and a further one
  std::vector<uint64_t> frames;
  const auto c = reader.read({{begin, 0}}, [&](const log::frame& f) {
    frames.push_back(f.position);
    const uint64_t n = (f.head.size + log::line_size - 1) / log::line_size;
    for (uint64_t k = 1; k < n; ++k) others.emplace_back(f.position, f.position + k);
  });
  if (!c.head) return;
  const auto note = [&](std::vector<structure>& to, uint64_t frame, uint64_t line) {
    const uint64_t at = begin + layout.offset_of(line);
    to.push_back({at, log::line_size, log::line_size});
    image.frame_locations[at] = {0, frame, log::seed_of(*c.head), begin};
  };
  note(image.links, 0, 0);
  for (const uint64_t f : frames) note(image.ring, f, f);
  for (const auto& [frame, line] : others) note(image.ring, frame, line);
}

void seal_line(const base_image& image, bytes& content, const frame_location& place) {
  if (place.segment + image.track_segment > content.size()) return;
  const log::segment_layout layout(log::redundancy::tracks, image.track_segment);
  const auto at = [&](uint64_t line) { return &content[place.segment + layout.offset_of(line)]; };
  bytes lines(log::line_size);
  std::memcpy(lines.data(), at(place.position), log::line_size);
  if (place.position == 0) {
    format::segment_head h;
    std::memcpy(&h, lines.data(), sizeof h);
    h.checksum = log::segment_head_checksum(h);
    std::memcpy(lines.data(), &h, sizeof h);
  } else {
    format::frame_head h;
    std::memcpy(&h, lines.data(), sizeof h);
    const uint64_t n =
        std::clamp<uint64_t>(h.size, sizeof h, (layout.lines() - place.position) * log::line_size);
    lines.resize(round_up(n, log::line_size));
    for (uint64_t k = 1; k * log::line_size < lines.size(); ++k)
      std::memcpy(&lines[k * log::line_size], at(place.position + k), log::line_size);
    h.body_checksum = codec::crc32c(0, &lines[sizeof h], n - sizeof h);
    h.checksum = log::frame_head_checksum(place.seed, place.position, h);
    std::memcpy(lines.data(), &h, sizeof h);
  }
  layout.for_each_store(place.position, lines,
                        [&](uint32_t, uint64_t offset, const std::byte* from, size_t n) {
                          std::memcpy(&content[place.segment + offset], from, n);
                        });
}

}  // namespace

spec_images make_spec_images(ram_file& file, const level& l) {
  const scute_options o = options(l, l.tracks ? file_size_max : 768 * kib);
  file.load(bytes(o.size));
  open_pool p(file, &o);
  const std::vector<uint64_t> oids = populate(p);
  p.handle()->in->drain();
  spec_images made;
  const bytes before = file.content();
  change(p, oids);
  made.torn = half_way(before, file.content());
  const bytes changed = file.content();
  // Of the pool itself: the log, and what says where it is, stay.
  const pool::state& s = p.handle()->in->s;
  std::copy_n(changed.begin(), s.geo.zones_offset, made.torn.begin());
  for (uint64_t at = s.geo.zones_offset; at < s.geo.zones_end(); at += format::page)
    if (s.overlaid.lent(at, format::page))
      std::copy_n(changed.begin() + static_cast<long>(at), format::page,
                  made.torn.begin() + static_cast<long>(at));
  change_much(p, oids);
  made.live = file.content();
  p.handle()->in->drain();
  scute_tx* tx = nullptr;
  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  paint_in_place(tx, oids[2], 10, 500, 96, "in place");
  paint_in_place(tx, oids[6], 3000, 9000, 98, "in place, large");
  made.open = file.content();
  need(scute_tx_abort(tx) == 0, "abort");
  return made;
}

void find_spec_log(base_image& image) {
  const pool::state& s = *image.s;
  if (s.sb.engine != SCUTE_ENGINE_SPEC) return;
  const engine::segment_list list = find_lists(image);
  const bool tracks = list.how == log::redundancy::tracks;
  need(tracks == (image.name.starts_with(spec_tracks_level.name)),
       "the log has another redundancy");
  if (tracks) image.track_segment = list.segment_size;
  log::segment_reader reader(list.layout(), s.salt, [&](uint64_t at, std::byte* to, size_t n) {
    std::memcpy(to, &image.content[at], n);
    return true;
  });
  for (const log::segment& at : list.segments(s.geo)) {
    if (tracks) {
      find_lines(image, reader, list.layout(), at.at[0]);
      continue;
    }
    std::vector<frame_location> frames;
    const auto c = reader.read(at, [&](const log::frame& f) {
      const uint64_t in = f.position * log::line_size;
      image.ring.push_back({at.at[0] + in, f.head.size, list.segment_size - in});
      frames.push_back({at.at[1] == 0 ? 0 : at.at[1] + in, f.position, 0});
      image.frame_locations[at.at[0] + in] = frames.back();
    });
    if (!c.head) continue;
    for (auto f = image.ring.end() - static_cast<long>(frames.size()); f != image.ring.end(); ++f)
      image.frame_locations[f->begin].seed = log::seed_of(*c.head);
    image.links.push_back({at.at[0], sizeof *c.head, sizeof *c.head});
    image.frame_locations[at.at[0]] = {at.at[1], 0, 0};
  }
  for (const uint64_t chunk : list.chunks)
    for (uint64_t page = chunk; page < chunk + s.geo.chunk_size; page += format::page)
      image.log_pages.insert(page / format::page);
}

bool seal_spec_log(const base_image& image, bytes& content, const structure& where) {
  const auto store = [&](uint64_t at, const auto& t) { std::memcpy(&content[at], &t, sizeof t); };
  const pool::geometry& g = image.s->geo;
  for (uint32_t r = 0; r < g.lane_replicas; ++r)
    if (where.begin == g.lane_offset(0, r)) {
      for (uint64_t which = 0; which < 2; ++which) {
        const uint64_t at =
            where.begin + offsetof(format::lane_status, truncation_point) + which * 16;
        uint64_t sequence = 0;
        std::memcpy(&sequence, &content[at], sizeof sequence);
        store(at + 8, engine::check_of_truncation_point(*image.s, sequence));
      }
      return true;
    }
  if (std::ranges::any_of(image.undo, [&](const structure& x) { return x.begin == where.begin; })) {
    store(where.begin, list_checksum(content, where.begin, where.room));
    return true;
  }
  const auto place = image.frame_locations.find(where.begin);
  if (place == image.frame_locations.end()) return false;
  if (place->second.segment != 0) {
    seal_line(image, content, place->second);
    return true;
  }
  uint64_t n = sizeof(format::segment_head);
  if (place->second.position == 0) {
    format::segment_head h;
    std::memcpy(&h, &content[where.begin], sizeof h);
    h.checksum = log::segment_head_checksum(h);
    store(where.begin, h);
  } else {
    format::frame_head h;
    std::memcpy(&h, &content[where.begin], sizeof h);
    n = std::clamp<uint64_t>(h.size, sizeof h, where.room);
    h.body_checksum = codec::crc32c(0, &content[where.begin] + sizeof h, n - sizeof h);
    h.checksum = log::frame_head_checksum(place->second.seed, place->second.position, h);
    store(where.begin, h);
  }
  if (const uint64_t second = place->second.second; second != 0)
    std::memcpy(&content[second], &content[where.begin], n);
  return true;
}

}  // namespace scute::fuzz
