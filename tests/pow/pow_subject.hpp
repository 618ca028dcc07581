// SPDX-License-Identifier: BSD-3-Clause
// A persist-on-write store as a subject of the crash explorer: texts in one table, and words
// next to the file. In these words a scenario durably notes what was reported to it (as another
// machine would remember it).
#pragma once

#include <scute/exploration.hpp>

#include <memory>
#include <string>

#include "cells.hpp"
#include "memory_medium.hpp"
#include "pow/store.hpp"

namespace scute::testing {
namespace pow = core::pow;

struct pow_kind {
  pow::protection protect = pow::protection::none;
  bool one_stream = false;
  uint64_t segments = 8, most = 8;
  uint64_t segment_size = 4096;
  bool free_indexes = false;  // a second table, whose indexes are not chosen
};

class pow_subject final : public subject {
 public:
  explicit pow_subject(pow_kind kind) : kind_(kind) {
    if (kind_.protect == pow::protection::always) kind_.segment_size = 9 * 4096;
    if (kind_.protect == pow::protection::sealed) kind_.segment_size = 2 * 4096;
  }

  pow::store& store() { return *store_; }
  pow::cells& cells() { return *cells_; }
  pow::cells& named() { return *named_; }

  // One section under these locks.
  template <typename Fn, typename... Locks>
  void section(pow::durability how, Fn&& fn, Locks&... locks) {
    (locks.lock(), ...);
    pow::section s(store_->parts(), how);
    (s.add_lock(&locks, [](void* m) { static_cast<Locks*>(m)->unlock(); }), ...);
    fn(s);
    s.commit();
  }
  void put(uint64_t index, std::string text, pow::durability how = pow::durability::strict) {
    section(how, [&](pow::section& s) { cells_->put(s, index, std::move(text)); });
  }
  void erase(uint64_t index) {
    section(pow::durability::strict, [&](pow::section& s) { cells_->erase(s, index); });
  }
  uint64_t number(uint64_t index) const {
    const std::string s = cells_->get(index);
    return s == "-" ? 0 : std::stoull(s);
  }
  void put_number(pow::section& s, uint64_t index, uint64_t n) {
    std::string text = std::to_string(n);
    text.resize(60, ' ');
    cells_->put(s, index, text);
  }

  // Next to the file.
  void witness(uint64_t which, uint64_t n) {
    writer w(*memory_);
    w.store(witness_at(which), &n, sizeof n);
    w.flush(witness_at(which), sizeof n);
    w.fence();
  }
  uint64_t witnessed(uint64_t which) const {
    uint64_t n = 0;
    std::memcpy(&n, witness_at(which), sizeof n);
    return n;
  }

  mutex a, b;  // of the program

  // ---- subject ----------------------------------------------------------------------------------

  uint64_t size() const override { return file_size() + 4096; }
  const pow_kind& kind() const noexcept { return kind_; }
  void create(memory& m, uint64_t) override {
    pow::shape how;
    how.protect = kind_.protect;
    how.segment_size = kind_.segment_size;
    how.segments = kind_.segments;
    for (uint8_t i = 0; auto& byte : how.uuid) byte = static_cast<uint8_t>(0x31 + 7 * i++);
    attach(m);
    store_ = pow::store::create(std::make_unique<memory_medium>(m), "simulated", how, requested());
    found();
  }
  void open(memory& m) override {
    attach(m);
    store_ =
        pow::store::open(std::make_unique<memory_medium>(m), "simulated", file_size(), requested());
    found();
  }
  findings check(bool repair) override {
    findings f;
    const auto take = [&] {
      for (const auto& d : store_->check(repair, true).damage) {
        f.add(d.text);
        f.lost += d.lost;
      }
    };
    take();
    for (const auto& changed : store_->check(false, true).changed) f.add(changed.text);
    return f;
  }
  void probe() override {
    put(90, "probe");
    put(91, std::string(100, 'p'));
    erase(90);
    erase(91);
    store_->clean(1);
  }
  void close() override {
    store_->close();
    abandon();
  }
  void abandon() noexcept override {
    store_.reset();
    cells_.reset();
    named_.reset();
  }
  std::string noun() const override { return "store"; }
  std::string place(std::span<const std::byte>, uint64_t offset) const override {
    if (offset >= file_size()) return "witness +" + std::to_string(offset - file_size());
    if (offset < pow::first_segment)
      return "head " + std::to_string(offset / 4096) + " +" + std::to_string(offset % 4096);
    offset -= pow::first_segment;
    return "segment " + std::to_string(offset / kind_.segment_size) + " +" +
           std::to_string(offset % kind_.segment_size);
  }
  std::string recovered() override {
    return "recovery dropped " + std::to_string(store_->recovered().batches_dropped) + " frame(s)";
  }
  void act_as(unsigned thread) noexcept override { pow::prefer_slot(thread + 1); }
  bool ran_full(const std::exception& e) const noexcept override {
    const auto* f = dynamic_cast<const core::failure*>(&e);
    return f != nullptr && f->code() == SCUTE_E_NOSPC;
  }
  void drain() override { store_->sync(); }
  bool takes_faults() const noexcept override { return kind_.protect != pow::protection::none; }
  // One page of a segment, or a head page. With groups: of one that is in a group.
  injury injure(fault_moment when, std::span<const std::byte> image,
                uint64_t number) const override {
    if (kind_.protect == pow::protection::sealed) {
      const auto pages = sealed_pages(image, when == fault_moment::after_recovery);
      const uint64_t which = number % (pages.size() + 1);
      const uint64_t at = which == pages.size() ? number / 64 % 3 * 4096 : pages[which];
      return {at, std::vector<std::byte>(4096, static_cast<std::byte>(0xa5 ^ number)), "a page"};
    }
    const uint64_t pages = kind_.segments * kind_.segment_size / 4096;
    uint64_t at = number % (pages + 1) * 4096 + pow::first_segment;
    if (number % (pages + 1) == pages) at = number / 64 % 3 * 4096;
    const uint64_t n = number % 3 == 0 ? 4096 : 64;
    at += n == 64 ? number / 7 % 64 * 64 : 0;
    return {at, std::vector<std::byte>(n, static_cast<std::byte>(0xa5 ^ number)),
            std::to_string(n) + " bytes"};
  }

  uint64_t file_size() const { return pow::first_segment + kind_.most * kind_.segment_size; }
  pow::store_options requested() const {
    pow::store_options w;
    w.limit.max_size = file_size();
    w.limit.growth = 2;
    w.limit.one_stream = kind_.one_stream;
    return w;
  }

 private:
  // Pages of the members of all groups, and of the seals; only a check repairs those.
  std::vector<uint64_t> sealed_pages(std::span<const std::byte> image, bool seals) const {
    std::vector<uint64_t> pages;
    const auto at = [&](uint64_t segment) {
      return pow::first_segment + segment * kind_.segment_size;
    };
    for (uint64_t i = 0; i < kind_.most; ++i) {
      pow::seal_table t;
      std::memcpy(&t, image.data() + at(i), sizeof t);
      if (t.head.magic != pow::seal_magic || t.head.checksum != pow::table_checksum(t)) continue;
      bool current = true;
      for (uint32_t k = 0; k < t.head.count; ++k) {
        const pow::seal_member& m = t.members[k];
        core::format::segment_head h;
        std::memcpy(&h, image.data() + at(m.segment), sizeof h);
        current = current && h.magic == core::format::segment_magic &&
                  h.checksum == core::log::segment_head_checksum(h) && h.lane == m.lane &&
                  h.epoch == m.session && h.generation == m.generation;
      }
      if (!current) continue;
      for (uint32_t k = 0; k < t.head.count; ++k)
        for (uint64_t p = 0; p * 4096 < t.members[k].end * 64; ++p)
          pages.push_back(at(t.members[k].segment) + p * 4096);
      if (seals) pages.push_back(at(i) + 4096);
    }
    return pages;
  }
  void attach(memory& m) {
    memory_ = std::make_unique<memory>(m);
    pow::prefer_slot(1);
  }
  void found() {
    cells_ = std::make_unique<pow::cells>();
    cells_->t = &store_->attach("cells", 7, 0, true, *cells_);
    if (!kind_.free_indexes) return;
    named_ = std::make_unique<pow::cells>();
    named_->t = &store_->attach("named", 8, 0, false, *named_);
  }
  std::byte* witness_at(uint64_t which) const {
    return memory_->bytes().data() + file_size() + which * 64;
  }

  pow_kind kind_;
  std::unique_ptr<memory> memory_;
  std::unique_ptr<pow::store> store_;
  std::unique_ptr<pow::cells> cells_, named_;
};

}  // namespace scute::testing
