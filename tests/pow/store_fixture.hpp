// SPDX-License-Identifier: BSD-3-Clause
// A store of eight segments in memory, with one table of texts, for the tests of its core.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "cells.hpp"
#include "plain_medium.hpp"
#include "pow/store.hpp"

namespace scute::core::pow {

class Store : public ::testing::TestWithParam<protection> {
 protected:
  void make() {
    std::ranges::fill(bytes, std::byte{0});
    shape how;
    how.protect = GetParam();
    how.segment_size = 72 * 1024;
    how.segments = segments;
    for (uint8_t& b : how.uuid) b = static_cast<uint8_t>(b + 3);
    store_options w;
    w.limit.max_size = bytes.size();
    db = store::create(std::make_unique<plain_medium>(bytes), "plain", how, w);
    attach();
  }
  void attach() {
    c = std::make_unique<cells>();
    c->t = &db->attach("cells", 7, 0, true, *c);
  }
  void reopen(bool salvage = false) {
    db.reset();
    store_options w;
    w.limit.max_size = bytes.size();
    w.recovery.salvage = salvage;
    db = store::open(std::make_unique<plain_medium>(bytes), "plain", bytes.size(), w);
    attach();
  }
  void put(uint64_t i, const std::string& text) {
    section s(db->parts(), durability::strict);
    c->put(s, i, text);
    s.commit();
  }
  plain_medium& file() { return static_cast<plain_medium&>(*db->parts().medium); }
  scute_error open_fails() {
    try {
      reopen();
    } catch (const failure& f) {
      return f.code();
    }
    return SCUTE_OK;
  }
  // In each copy, its checksum made right again.
  void change_heads(const std::function<void(file_head&)>& change) {
    for (uint32_t i = 0; i < head_copies; ++i) {
      file_head h;
      std::memcpy(&h, bytes.data() + i * head_page, sizeof h);
      change(h);
      h.checksum = head_checksum(h);
      std::memcpy(bytes.data() + i * head_page, &h, sizeof h);
    }
  }

  uint64_t segments = 8;  // of these; there is room for eight
  static constexpr size_t file_bytes = first_segment + size_t{8} * 72 * 1024;
  struct given_back {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, given_back> memory{
      static_cast<std::byte*>(std::aligned_alloc(head_page, file_bytes))};
  std::span<std::byte> bytes{memory.get(), file_bytes};
  std::unique_ptr<store> db;
  std::unique_ptr<cells> c;
};

}  // namespace scute::core::pow
