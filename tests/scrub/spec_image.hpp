// SPDX-License-Identifier: BSD-3-Clause
// Pools of engine spec with records in the log that nothing has checkpointed, and their files as a
// kill or a power failure leaves them.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "core/engine/speculative/log_file/segment_list.hpp"
#include "core/log/segment_reader.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;

class spec_image : public pool_file {
 public:
  explicit spec_image(log::redundancy how = log::redundancy::two_copies,
                      scute_protection level = SCUTE_PROTECT_MLPC, uint32_t parities = 1,
                      uint64_t more = 0) {
    const bool tracks = how == log::redundancy::tracks;
    scute_options o = options((tracks ? 8 * mib : 3 * mib) + more,
                              {level, SCUTE_ENGINE_SPEC, level < SCUTE_PROTECT_MLP ? 0 : parities});
    o.rows = 4;
    o.lanes = 2;
    o.chunk_size = tracks ? 128 * kib : 16 * kib;
    o.log_cap = tracks ? 2 * mib : 512 * kib;
    create(o);
    rest();
    EXPECT_EQ(list().how, level < SCUTE_PROTECT_ML ? log::redundancy::one_copy : how);
    add(60);
    SCUTE_OKAY_E(scute_drain(pool));
  }
  void add(uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
      const bytes content = pattern(i, i % 5 == 0 ? 3000 : 200 + 20 * (i % 60));
      const scute_oid oid = alloc(content);
      if (oid == 0) return;  // full
      objects[oid] = content;
    }
  }
  // Objects in all rows.
  void fill() {
    add(10000);
    SCUTE_OKAY_E(scute_drain(pool));
  }
  // No thread of the pool's own checkpoints anything from here on.
  void rest() const { in().idle.stop(); }

  // Changes a part of every `step`-th object: its record stays live.
  void change(size_t step = 1, uint64_t key = 1000) {
    size_t i = 0;
    for (auto& [oid, content] : objects) {
      if (i++ % step != 0) continue;
      transaction tx(pool);
      void* to = nullptr;
      const uint64_t at = key * 37 % (content.size() / 2), n = content.size() / 3;
      SCUTE_OKAY(scute_tx_add_range(tx, oid, at, n, &to));
      const bytes fresh = pattern(++key, n);
      std::memcpy(to, fresh.data(), n);
      std::copy(fresh.begin(), fresh.end(), content.begin() + static_cast<long>(at));
      SCUTE_OKAY(tx.commit());
    }
  }
  bytes file() const { return read_file(path); }
  // Loads the pool that opening finds in that file.
  void load(const bytes& image, uint32_t flags = 0) {
    if (pool != nullptr) {
      in().abandon();
      scute_close(pool);
    }
    pool = nullptr;
    write_file(path, image);
    open(flags);
    rest();
  }
  void expect_objects() {
    for (const auto& [oid, content] : objects)
      EXPECT_TRUE(read(oid) == content) << "object at " << offset_of(oid);
  }
  void expect_sound_objects() {
    expect_objects();
    expect_sound();
    EXPECT_EQ(info().lost, 0u);
  }

  engine::segment_list list() const { return engine::read_list(in().s).value(); }
  std::vector<log::segment> segments() const { return list().segments(in().s.geo); }
  // Of those that the engine says to be in use: copies as ranges of the file.
  std::vector<std::pair<uint64_t, uint64_t>> live() const {
    std::vector<std::pair<uint64_t, uint64_t>> found;
    in().engine->for_each_live_log(
        [&](uint64_t offset, uint64_t length) { found.emplace_back(offset, length); });
    return found;
  }
  struct frame_place {
    log::segment where;
    uint64_t position, lines;
    uint64_t sequence;
    uint32_t lane;
  };
  // All frames above the truncation point, in the order of segments and positions.
  std::vector<frame_place> frames() const {
    std::vector<frame_place> found;
    const pool::state& s = in().s;
    log::segment_reader reader(
        list().layout(), s.salt,
        [&](uint64_t offset, std::byte* to, size_t n) { return s.medium->read(offset, to, n); });
    const uint64_t truncation_point = in().engine->log().truncation_point;
    for (const log::segment& at : segments()) {
      std::vector<frame_place> here;
      const auto c = reader.read(at, [&](const log::frame& f) {
        if (f.head.sequence > truncation_point)
          here.push_back({at, f.position, f.lines.size() / log::line_size, f.head.sequence, 0});
      });
      for (frame_place& f : here) f.lane = c.head->lane;
      if (c.head && c.head->epoch == s.sb.epoch)
        found.insert(found.end(), here.begin(), here.end());
    }
    return found;
  }
  // File offsets of a frame's lines: in one copy, or in all, the XOR's included.
  std::vector<uint64_t> lines_of(const frame_place& f, bool all) const {
    const log::segment_layout layout = list().layout();
    std::vector<uint64_t> found;
    const std::vector<std::byte> lines(f.lines * log::line_size);
    layout.for_each_store(f.position, lines,
                          [&](uint32_t copy, uint64_t offset, const std::byte*, size_t n) {
                            if (!all && (copy != 0 || !found.empty())) return;
                            for (uint64_t k = 0; k < n; k += log::line_size)
                              if (all || k == 0) found.push_back(f.where.at[copy] + offset + k);
                          });
    return found;
  }
  std::vector<scute_event> events() {
    std::vector<scute_event> all;
    SCUTE_OKAY_E(scute_events(
        pool,
        [](void* arg, const scute_event* e) {
          static_cast<std::vector<scute_event>*>(arg)->push_back(*e);
        },
        &all));
    return all;
  }
  uint64_t count(scute_event_kind kind, scute_outcome outcome) {
    uint64_t n = 0;
    for (const scute_event& e : events())
      if (e.kind == kind && e.outcome == outcome) n += e.count;
    return n;
  }

  std::map<scute_oid, bytes> objects;
};

}  // namespace scute::test
