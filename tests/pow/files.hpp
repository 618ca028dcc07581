// SPDX-License-Identifier: BSD-3-Clause
// What tests of stores in files have in common: a small store, in memory and on a disk.
#pragma once

#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>

#include "support/scratch.hpp"

namespace scute::test {

class pow_files : public ::testing::TestWithParam<scratch::where> {
 protected:
  static pow::options small() {
    pow::options o;
    o.size = 1 << 20;
    o.max_size = 8 << 20;
    o.segment_size = 72 * 1024;
    o.flags = SCUTE_POW_NO_CLEANER;
    o.threads = 2;
    return o;
  }
  // Of what fn throws; errc{}: nothing.
  static errc code_of(const std::function<void()>& fn) {
    try {
      fn();
    } catch (const error& e) {
      return e.which();
    }
    return errc{};
  }
  scratch folder{GetParam()};
  std::string path = folder.file("store.pow");
  std::mutex m;
};

inline auto memory_and_disk() {
  return ::testing::Values(scratch::memory, scratch::disk);
}
inline std::string name_of_place(const ::testing::TestParamInfo<scratch::where>& p) {
  return p.param == scratch::memory ? "Memory" : "Disk";
}

}  // namespace scute::test
