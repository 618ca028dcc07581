// SPDX-License-Identifier: BSD-3-Clause
// A pool on a disk with engine spec, whose log is a file of its own, and some objects in it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "codec/checksum/crc32c.hpp"
#include "support/pool_file.hpp"

namespace scute::test {

inline scute_options on_disk(scute_protection p = SCUTE_PROTECT_MLPC) {
  scute_options o = options(2 * mib, {p, SCUTE_ENGINE_SPEC});
  o.medium = SCUTE_MEDIUM_FILE;
  o.lanes = 4;
  return o;
}

// Changes the head of a log, in both copies.
inline void edit_head(const std::string& log,
                      const std::function<void(format::log_file_head&)>& how) {
  bytes all = read_file(log);
  for (const uint64_t at : {uint64_t{0}, uint64_t{4096}}) {
    format::log_file_head h;
    std::memcpy(&h, all.data() + at, sizeof h);
    how(h);
    constexpr size_t before = offsetof(format::log_file_head, version);
    h.checksum =
        codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
    std::memcpy(all.data() + at, &h, sizeof h);
  }
  write_file(log, all);
}

class disk_pool : public pool_file {
 public:
  explicit disk_pool(const scute_options& o = on_disk(), scratch::where w = scratch::disk)
      : pool_file(w), log(path + ".log") {
    create(o);
    for (unsigned i = 0; i < 4; ++i) objects.push_back(alloc(pattern(i, 300 + i * 900)));
  }
  int open_how(uint32_t flags = 0) {
    scute_options o = opening(0, SCUTE_MEDIUM_FILE);
    o.flags = flags;
    return scute_open(path.c_str(), &o, &pool);
  }
  void open() { SCUTE_OKAY(open_how()); }
  // As kill -9 does.
  void kill() {
    pool->in->abandon();
    close();
  }
  void change(unsigned by) {
    for (unsigned i = 0; i < 4; ++i) overwrite(objects[i], pattern(by * 10 + i, 300 + i * 900));
    last = by;
  }
  void survive(unsigned by) {
    change(by);
    kill();
    open();
    expect_last();
    close();
  }
  void expect_last() {
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(read(objects[i]), pattern(last * 10 + i, 300 + i * 900)) << i;
    expect_sound();
  }
  // The pool cannot be opened, says so, and nothing changes.
  void expect_refused(scute_error code, const char* words) {
    const bytes before = read_file(path),
                log_before = std::filesystem::exists(log) ? read_file(log) : bytes();
    for (const uint32_t flags : {0U, uint32_t{SCUTE_READONLY}}) {
      SCUTE_FAILS(code, open_how(flags));
      EXPECT_THAT(scute_errormsg(), testing::HasSubstr(log));
      EXPECT_THAT(scute_errormsg(), testing::HasSubstr(words));
      EXPECT_THAT(scute_errormsg(), testing::HasSubstr("backup"));
      pool = nullptr;
    }
    EXPECT_EQ(read_file(path), before);
    EXPECT_EQ(std::filesystem::exists(log) ? read_file(log) : bytes(), log_before);
  }

  const std::string log;
  std::vector<scute_oid> objects;
  unsigned last = 0;
};

}  // namespace scute::test
