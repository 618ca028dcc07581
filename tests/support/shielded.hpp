// SPDX-License-Identifier: BSD-3-Clause
// A file under the shield in a scratch folder, and what it is supposed to hold.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include "support/pool_file.hpp"

namespace scute::test {

struct shielded {
  explicit shielded(scratch::where w = scratch::memory) : dir(w), path(dir.file("user.dat")) {}
  ~shielded() { scute_close(pool); }
  shielded(const shielded&) = delete;
  shielded& operator=(const shielded&) = delete;

  // The file, not yet shielded.
  void make(size_t n, uint64_t key = 1) {
    content = pattern(key, n);
    write_file(path, content);
  }
  static scute_options options(scute_engine engine = SCUTE_ENGINE_AUTO, uint32_t parity = 0) {
    scute_options o;
    scute_options_init(&o);
    o.engine = engine;
    o.parity = parity;
    return o;
  }
  void add(const scute_options& o = options(), uint64_t capacity = 0, uint32_t flags = 0) {
    SCUTE_OKAY(scute_shield_add(path.c_str(), &o, capacity, flags));
  }
  int try_open(uint32_t flags = 0) {
    scute_options o = options();
    o.flags = flags;
    return scute_shield_open(path.c_str(), &o, &pool);
  }
  void open(uint32_t flags = 0) { SCUTE_OKAY(try_open(flags)); }
  void close() {
    SCUTE_OKAY_E(scute_close(pool));
    pool = nullptr;
  }
  void reopen() {
    close();
    open();
  }
  instance& in() const { return *pool->in; }

  void write(uint64_t offset, const bytes& b) {
    const scute_shield_change c{offset, b.data(), b.size()};
    SCUTE_OKAY(scute_shield_write(pool, &c, 1));
    std::copy(b.begin(), b.end(), content.begin() + static_cast<ptrdiff_t>(offset));
  }
  void grow(uint64_t size) {
    SCUTE_OKAY(scute_shield_grow(pool, size));
    content.resize(size);
  }
  bytes read(uint64_t offset, uint64_t n) const {
    bytes b(n);
    SCUTE_OKAY_E(scute_shield_read(pool, offset, b.data(), n));
    return b;
  }
  // Expects that the library reads, and that the file has, the written bytes.
  void expect_content() const {
    EXPECT_TRUE(read(0, content.size()) == content);
    expect_file();
  }
  void expect_file() const { EXPECT_TRUE(read_file(path) == content); }
  scute_report check(bool repair = false) const {
    scute_report r{};
    r.struct_size = sizeof r;
    const auto note = [](void* arg, const char* what, uint64_t offset, uint64_t length, scute_oid,
                         int) {
      static_cast<std::string*>(arg)->append(std::string(what) + " at " + std::to_string(offset) +
                                             "+" + std::to_string(length) + "; ");
    };
    std::string found;
    SCUTE_OKAY_E(scute_check(pool, repair ? 1 : 0, &r, note, nullptr, &found));
    if (!repair) {
      EXPECT_EQ(found, "");
    }
    return r;
  }
  void expect_sound() const { EXPECT_EQ(check().damaged, 0u); }

  scute_shield_state state() const {
    scute_shield_state s{};
    s.struct_size = sizeof s;
    SCUTE_OKAY_E(scute_shield_info(pool, &s));
    return s;
  }
  // Of a byte of the file, in the pool.
  uint64_t place_of(uint64_t offset) const {
    scute_oid oid = 0;
    uint64_t at = 0;
    SCUTE_OKAY_E(scute_shield_locate(pool, offset, &oid, &at, nullptr));
    return (oid & 0x0000'ffff'ffff'ffffu) + at;
  }
  // Changes a byte as a device does, and as no program that opens the file could.
  void flip(uint64_t offset, unsigned char mask = 0x40) const {
    unsigned char byte = read_at(path, offset, 1)[0];
    byte ^= mask;
    write_at(path, offset, &byte, 1);
  }
  std::string sidecar() const { return path + ".scute"; }
  bool is_shielded() const { return std::filesystem::exists(sidecar()); }

  scratch dir;
  std::string path;
  bytes content;
  scute_pool* pool = nullptr;
};

}  // namespace scute::test
