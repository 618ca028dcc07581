// SPDX-License-Identifier: BSD-3-Clause
// A store with protection `sealed` in memory, and its groups.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plain_medium.hpp"
#include "pow/file/seal.hpp"
#include "pow/store.hpp"

namespace scute::core::pow {

class Seals : public ::testing::Test {
 protected:
  static constexpr uint64_t segment_bytes = 3 * head_page, most = 60;
  Seals() : memory(first_segment + most * segment_bytes + head_page) {
    void* at = memory.data();
    size_t room = memory.size();
    std::align(head_page, memory.size() - head_page, at, room);
    bytes = {static_cast<std::byte*>(at), memory.size() - head_page};
    plain_medium::stores_repair = true;
    make();
  }
  void make(protection protect = protection::sealed) {
    db.reset();
    std::ranges::fill(bytes, std::byte{0});
    shape how;
    how.protect = protect;
    how.segment_size = segment_bytes;
    how.segments = segments_least;
    how.uuid[3] = 7;
    db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, chosen());
    attach();
  }
  ~Seals() override {
    plain_medium::lost_from = plain_medium::lost_to = 0;
    plain_medium::stores_repair = false;
  }
  store_options chosen(bool salvage = false) const {
    store_options w;
    w.limit.max_size = bytes.size();
    w.recovery.salvage = salvage;
    w.recovery.threads = 2;
    return w;
  }
  void attach() {
    c = std::make_unique<cells>();
    c->t = &db->attach("cells", 7, 0, true, *c);
  }
  void reopen(bool salvage = false) {
    db.reset();
    db = store::open(std::make_unique<plain_medium>(bytes), "plain", bytes.size(), chosen(salvage));
    attach();
  }
  void put(uint64_t i, size_t n, char x, durability how = durability::strict) {
    section s(db->parts(), how);
    c->put(s, i, std::string(n, x));
    s.commit();
  }
  void fill(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i)
      put(i, 700 + i * 37 % 900, static_cast<char>('a' + i % 26));
  }
  uint64_t count(use what) const {
    uint64_t n = 0;
    for (uint32_t i = 0; i < db->parts().space->count(); ++i)
      n += db->parts().space->note(i).what.load() == what;
    return n;
  }
  uint64_t sealed() const {
    uint64_t n = 0;
    for (uint32_t i = 0; i < db->parts().space->count(); ++i)
      n += db->parts().space->note(i).seal.load() != nowhere;
    return n;
  }
  std::byte* page(uint64_t segment, uint64_t p) {
    return bytes.data() + first_segment + segment * segment_bytes + p * head_page;
  }
  // Of each page of the segments alone, by noise and by being unreadable: everything is there.
  void expect_all_of(uint64_t every = 1) {
    const auto before = c->texts;
    const std::vector<std::byte> sound(bytes.begin(), bytes.end());
    const uint64_t pages = db->parts().space->count() * segment_bytes / head_page;
    for (uint64_t p = 0; p < pages; p += every)
      for (const bool unreadable : {false, true}) {
        db.reset();
        std::ranges::copy(sound, bytes.begin());
        if (unreadable) {
          plain_medium::lost_from = first_segment + p * head_page;
          plain_medium::lost_to = plain_medium::lost_from + head_page;
        }
        std::fill_n(page(0, p), head_page, std::byte{0x5a});
        try {
          reopen();
        } catch (const failure& f) {
          FAIL() << "page " << p % 3 << " of segment " << p / 3 << ": " << f.what();
        }
        plain_medium::lost_from = plain_medium::lost_to = 0;
        ASSERT_EQ(c->texts, before) << p;
        db->check(true, true);  // of a seal as well
        for (const auto& d : db->check(false, true).damage) ADD_FAILURE() << p << ": " << d.text;
      }
    db.reset();
    std::ranges::copy(sound, bytes.begin());
  }

  uint32_t first_of(use what) const {
    uint32_t i = 0;
    while (i < db->parts().space->count() && db->parts().space->note(i).what.load() != what) ++i;
    return i;
  }
  uint32_t first_member() const {
    uint32_t i = 0;
    while (i < db->parts().space->count() && db->parts().space->note(i).seal.load() == nowhere) ++i;
    return i;
  }
  uint32_t last_member() const {
    auto i = static_cast<uint32_t>(db->parts().space->count());
    while (i != 0 && db->parts().space->note(i - 1).seal.load() == nowhere) --i;
    return i - 1;
  }
  plain_medium& file() { return static_cast<plain_medium&>(*db->parts().medium); }

  std::vector<std::byte> memory;
  std::span<std::byte> bytes;
  std::unique_ptr<store> db;
  std::unique_ptr<cells> c;
};

}  // namespace scute::core::pow
