// SPDX-License-Identifier: BSD-3-Clause
#include "base_image.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/common/lane_log.hpp"
#include "core/shared/pool/superblock.hpp"
#include "open_pool.hpp"
#include "spec_log.hpp"

namespace scute::fuzz {
using namespace core;
namespace {

constexpr level levels[] = {
    {"none", SCUTE_PROTECT_NONE, SCUTE_CHECKSUM_CRC32C},
    {"ml", SCUTE_PROTECT_ML, SCUTE_CHECKSUM_CRC32C},
    {"mlp", SCUTE_PROTECT_MLP, SCUTE_CHECKSUM_CRC32C},
    {"mlpc", SCUTE_PROTECT_MLPC, SCUTE_CHECKSUM_CRC32C},
    {"mlpc-adler", SCUTE_PROTECT_MLPC, SCUTE_CHECKSUM_ADLER32},
};
constexpr level log_free_level = {"logfree", SCUTE_PROTECT_MLPC, SCUTE_CHECKSUM_CRC32C,
                                  SCUTE_ENGINE_LOGFREE};
// True if the last entry of this epoch in some lane has exactly these flags.
bool holds_entry(const ram_file& file, uint32_t flags) {
  format::superblock sb;
  std::memcpy(&sb, file.base(), sizeof sb);
  for (uint32_t lane = 0; lane < sb.lane_count; ++lane) {
    const std::byte* base = file.base() + sb.lanes_offset + lane * sb.lane_size;
    uint64_t last = 0, found = 0;
    for (uint64_t at = 64; at + 64 <= format::lane_undo_offset(sb.lane_size); at += 64) {
      format::log_entry e;
      std::memcpy(&e, base + at, sizeof e);
      if (e.magic != format::entry_magic || e.epoch != sb.epoch || e.position != at) continue;
      last = std::max(last, e.sequence);
      if (e.flags == flags) found = std::max(found, e.sequence);
    }
    if (found != 0 && found == last) return true;
  }
  return false;
}

// The content at the first fence after which such an entry waits to be applied.
template <typename Work>
bytes at_decision(ram_file& file, uint32_t flags, Work&& work) {
  open_pool p(file, nullptr);
  bytes content;
  scute_tx* tx = nullptr;
  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  work(tx);
  p.medium->after_fence = [&] {
    if (content.empty() && holds_entry(file, flags)) content = file.content();
  };
  need(scute_tx_commit(tx) == 0, "commit");
  need(!content.empty(), "no entry waits for recovery");
  p.medium->after_fence = nullptr;
  return content;
}

struct unclean_images {
  bytes redo, undo, chained;
};

unclean_images make_unclean(ram_file& file, const level& l) {
  const scute_options o = options(l, 512 * kib);
  file.load(bytes(o.size));
  std::vector<uint64_t> oids;
  {
    open_pool p(file, &o);
    oids = populate(p);
    need(p.root->close(), "close");
  }
  const bytes clean = file.content();
  unclean_images made;

  made.redo = at_decision(file, format::entry_final, [&](scute_tx* tx) {
    void* to = nullptr;
    need(scute_tx_open(tx, oids[1], &to) == 0, "open");
    paint(to, 100, 91);
    need(scute_tx_add_range(tx, oids[5], 4000, 300, &to) == 0, "range");
    paint(to, 300, 92);
    need(scute_tx_free(tx, oids[0]) == 0, "free");
    need(scute_tx_alloc(tx, 50, type_plain, &oids[0], &to) == 0, "alloc");
    paint(to, 50, 93);
  });

  file.load(clean);
  made.chained = at_decision(file, format::entry_final | format::entry_chained, [&](scute_tx* tx) {
    void* to = nullptr;
    need(scute_tx_open(tx, oids[5], &to) == 0, "open");
    paint(to, 9000, 94);
    need(scute_tx_open(tx, oids[6], &to) == 0, "open");
    paint(to, 20000, 95);
  });

  file.load(clean);
  {
    open_pool p(file, nullptr);
    scute_tx* tx = nullptr;
    need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
    paint_in_place(tx, oids[2], 10, 500, 96, "in place");
    paint_in_place(tx, oids[3], 0, 300, 97, "in place, where the area ends");
    paint_in_place(tx, oids[6], 3000, 9000, 98, "in place, chained");
    made.undo = file.content();
    need(scute_tx_abort(tx) == 0, "abort");
  }
  return made;
}

// In the middle of a log-free transaction over four members.
struct torn_images {
  bytes decided;  // all data, no parity
  bytes cut;      // half of the words of data
  bytes parity;   // all data, half of the words of parity
  bytes held;     // an in-place range that holds its columns, stored to
};

torn_images make_torn(ram_file& file, const level& l) {
  const scute_options o = options(l, 512 * kib);
  file.load(bytes(o.size));
  open_pool p(file, &o);
  std::vector<uint64_t> oids = populate(p);
  torn_images made;
  p.handle()->in->drain();
  const bytes before = file.content();
  const uint64_t logged = p.handle()->in->s.lanes.front().w.count.logged.get();
  scute_tx* tx = nullptr;
  void* to = nullptr;
  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  need(scute_tx_open(tx, oids[1], &to) == 0, "open");
  paint(to, 100, 91);
  need(scute_tx_add_range(tx, oids[5], 4000, 300, &to) == 0, "range");
  paint(to, 300, 92);
  need(scute_tx_free(tx, oids[0]) == 0, "free");
  p.medium->after_fence = [&] {
    if (made.decided.empty()) made.decided = file.content();
  };
  need(scute_tx_commit(tx) == 0, "commit");
  p.medium->after_fence = nullptr;
  need(p.handle()->in->s.lanes.front().w.count.logged.get() == logged, "it was logged");
  p.handle()->in->drain();
  need(made.decided != before && made.decided != file.content(), "the fence is not between");
  made.cut = half_way(before, made.decided);
  made.parity = half_way(made.decided, file.content());

  need(scute_tx_begin(p.handle(), &tx) == 0, "begin");
  need(scute_tx_inplace(tx, oids[2], 10, 500, &to) == 0, "in place");
  paint(to, 500, 96);
  made.held = file.content();
  need(scute_tx_abort(tx) == 0, "abort");
  return made;
}

// ---- where things are ---------------------------------------------------------------------------

void find_entries(const base_image& image, uint64_t begin, uint64_t from, uint64_t to,
                  std::vector<structure>& found) {
  for (uint64_t at = from; at + sizeof(format::log_entry) <= to; at += 64) {
    format::log_entry e;
    std::memcpy(&e, image.content.data() + begin + at, sizeof e);
    if (e.magic != format::entry_magic || e.position != at) continue;
    const uint64_t room = to - at;
    found.push_back({begin + at, std::min(sizeof e + std::min(e.body_size, room), room), room});
  }
}

void find_places(base_image& image) {
  auto& s = *image.s;
  const pool::geometry& g = s.geo;
  for (unsigned i = 0; i < 3; ++i)
    image.superblocks.push_back({g.superblock_offset(i), sizeof(format::superblock), 0});
  for (uint32_t r = 0; r < g.lane_replicas; ++r)
    for (uint32_t lane = 0; lane < g.lane_count; ++lane) {
      const uint64_t base = g.lane_offset(lane, r);
      const uint64_t undo = format::lane_undo_offset(g.lane_size);
      image.statuses.push_back({base, sizeof(format::lane_status), lane});
      find_entries(image, base, format::lane_log_offset, undo, image.ring);
      find_entries(image, base, undo, g.lane_size, image.undo);
    }
  image.zones.push_back({g.zone_offset(0), sizeof(format::zone_descriptor), 0});
  image.anchors.push_back(
      {g.zone_offset(0) + format::zone_anchor_offset, sizeof(format::root_anchor), 0});
  for (uint32_t i = 0; i < g.chunks; ++i) {
    const uint64_t chunk = g.chunk_offset(0, i);
    image.chunk_headers.push_back({g.chunk_header_offset(0, i), sizeof(format::chunk_header), 0});
    image.chunks.push_back({chunk, g.chunk_size, 0});
    format::chunk_header h;
    std::memcpy(&h, image.content.data() + g.chunk_header_offset(0, i), sizeof h);
    if (h.kind != static_cast<uint8_t>(format::chunk_kind::log)) continue;
    find_entries(image, chunk, 0, g.chunk_size, image.undo);
    format::log_link link;
    std::memcpy(&link, image.content.data() + chunk, sizeof link);
    if (link.pool_salt == s.salt)
      image.links.push_back(
          {chunk, sizeof link + std::min<uint64_t>(link.length, g.chunk_size), g.chunk_size});
  }
}

// Pages whose columns do not add up: a transaction of a log-free pool has them open.
void find_open_columns(base_image& image) {
  const pool::geometry& g = image.s->geo;
  if (image.clean || image.s->sb.engine != SCUTE_ENGINE_LOGFREE) return;
  for (uint64_t column = 0; column < g.row_size; column += format::page) {
    bytes sum(format::page);
    for (uint64_t row = 0; row < g.rows + g.parity; ++row)
      for (uint64_t i = 0; i < format::page; ++i)
        sum[i] ^= image.content[g.zone_offset(0) + row * g.row_size + column + i];
    if (std::all_of(sum.begin(), sum.end(), [](std::byte b) { return b == std::byte{}; })) continue;
    for (uint64_t row = 0; row < g.rows + g.parity; ++row)
      image.open_pages.insert((g.zone_offset(0) + row * g.row_size + column) / format::page);
  }
}

// Opens a copy, recovers it, and notes what it holds.
void find_objects(ram_file& file, base_image& image) {
  file.load(image.content);
  open_pool p(file, nullptr);
  instance& in = *p.handle()->in;
  heap::zone_table& zones = in.heap->zones();
  heap::zone& z = zones.get(0);
  const auto note = [&](const heap::object& o) {
    image.headers.push_back(o.fragment(0));
    const auto h = zones.read_header(o);
    if (format::meta_role(h.meta) != format::role::live) return;
    const uint64_t size = format::meta_size(h.meta);
    for (uint64_t i = 1; i * format::fragment_payload < size; ++i)
      image.parts.push_back(o.fragment(i));
    const uint64_t oid = in.s.oid_of(o.payload);
    const void* at = nullptr;
    need(scute_get_verified(p.handle(), oid, &at) == 0, "read");
    const auto* b = static_cast<const std::byte*>(at);
    image.objects[oid] = bytes(b, b + size);
  };
  for (uint32_t i = 0; i < z.high_water; ++i) {
    heap::chunk_record& c = z.chunks[i];
    if (c.kind == heap::use::run)
      for (uint32_t k = 0; k < c.formatted; ++k) note(zones.slot_object(c, k));
    if (c.kind == heap::use::span) note(zones.span_object(c));
  }
  if (scute_root(p.handle(), 0, 0, &image.root) != 0) image.root = 0;
}

void find_boundaries(base_image& image) {
  const pool::geometry& g = image.s->geo;
  auto& b = image.boundaries;
  b = {0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 4095, 4096, 4097};
  for (const int bit : {15, 16, 31, 32, 39, 40, 46, 47, 48, 63})
    for (const int off : {-1, 0, 1}) b.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(off));
  b.push_back(UINT64_MAX);
  const uint64_t zone = g.zone_offset(0);
  for (const uint64_t at : {g.file_size,
                            g.file_size - format::page,
                            g.lanes_offset,
                            g.lane_size,
                            g.zones_offset,
                            g.zones_end(),
                            g.zone_size,
                            g.row_size,
                            g.data_size,
                            zone + g.data_size,
                            zone + g.row_size,
                            g.chunk_base,
                            uint64_t{g.chunk_size},
                            uint64_t{g.chunks},
                            g.chunk_offset(0, 0),
                            g.chunk_offset(0, 1),
                            g.chunk_offset(0, g.chunks - 1),
                            g.chunk_offset(0, g.chunks),
                            format::lane_undo_offset(g.lane_size),
                            uint64_t{g.chunk_size} / 2})
    for (const int off : {-64, -1, 0, 1, 32, 64}) b.push_back(at + static_cast<uint64_t>(off));
  for (const auto& c : image.chunks) b.push_back(c.begin);
  for (const auto& c : image.chunk_headers) b.push_back(c.begin);
  for (const auto& [oid, unused] : image.objects) b.push_back(oid);
  for (size_t i = 0; i < std::min<size_t>(image.headers.size(), 32); ++i)
    b.push_back(image.headers[i].header);
}

base_image describe_image(ram_file& file, std::string name, const level& l, bytes content) {
  base_image image;
  image.name = std::move(name);
  image.content = std::move(content);
  image.s = std::make_unique<pool::state>();
  auto& s = *image.s;
  std::memcpy(&s.sb, image.content.data(), sizeof s.sb);
  s.geo = pool::read_geometry(s.sb);
  s.salt = pool::pool_salt(s.sb);
  s.oid_tag = uint64_t{s.sb.tag} << 48;
  s.has_parity = s.geo.parity != 0;
  s.has_checksums = l.protection == SCUTE_PROTECT_MLPC;
  s.checksum = static_cast<codec::checksum_kind>(s.sb.checksum_kind);
  image.clean = s.sb.clean != 0;
  image.is_checked = s.has_checksums && l.checksum == SCUTE_CHECKSUM_CRC32C;
  find_places(image);
  find_open_columns(image);
  find_spec_log(image);
  find_objects(file, image);
  find_boundaries(image);
  return image;
}

std::vector<base_image> make_all() {
  ram_file file;
  std::vector<base_image> all;
  const auto add = [&](const level& l, const char* kind, bytes content) {
    all.push_back(describe_image(file, std::string(l.name) + " " + kind, l, std::move(content)));
  };
  for (const level& l : levels) {
    add(l, "empty", make_clean(file, l, false));
    add(l, "objects", make_clean(file, l, true));
    unclean_images unclean = make_unclean(file, l);
    add(l, "redo", std::move(unclean.redo));
    add(l, "undo", std::move(unclean.undo));
    add(l, "chained", std::move(unclean.chained));
  }
  const level& l = log_free_level;
  add(l, "empty", make_clean(file, l, false));
  add(l, "objects", make_clean(file, l, true));
  torn_images torn = make_torn(file, l);
  add(l, "decided", std::move(torn.decided));
  add(l, "cut", std::move(torn.cut));
  add(l, "parity", std::move(torn.parity));
  add(l, "held", std::move(torn.held));
  for (const level& x : spec_levels) {
    add(x, "empty", make_clean(file, x, false));
    add(x, "objects", make_clean(file, x, true));
    spec_images made = make_spec_images(file, x);
    add(x, "live", std::move(made.live));
    add(x, "torn", std::move(made.torn));
    add(x, "open", std::move(made.open));
  }
  spec_images tracks = make_spec_images(file, spec_tracks_level);
  add(spec_tracks_level, "live", std::move(tracks.live));
  add(spec_tracks_level, "torn", std::move(tracks.torn));
  add(spec_tracks_level, "open", std::move(tracks.open));
  return all;
}

}  // namespace

const std::vector<base_image>& base_images() {
  static const std::vector<base_image> all = make_all();
  return all;
}

}  // namespace scute::fuzz
