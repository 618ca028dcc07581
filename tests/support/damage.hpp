// SPDX-License-Identifier: BSD-3-Clause
// Pools with known contents that tests can damage, and the test of the contents that remain.
#pragma once

#include <map>

#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {

class known_pool : public pool_file {
 public:
  using pool_file::create;
  using pool_file::pool_file;

  // Small, one-fragment, several-fragment and large objects, with some freed ones between them.
  void fill() {
    SCUTE_OKAY(scute_root(pool, 200, 77, &root));
    for (const size_t n :
         {1, 31, 32, 33, 100, 500, 1000, 4064, 4096, 4097, 5000, 8192, 12000, 20000, 70000})
      for (uint64_t k = 0; k < 3; ++k) add(n);
    bool drop = false;
    for (auto it = objects.begin(); it != objects.end(); drop = !drop) {
      if (drop && it->second.size() <= 5000) {
        ASSERT_EQ(SCUTE_OK, free(it->first));
        it = objects.erase(it);
      } else {
        ++it;
      }
    }
    overwrite(root, pattern(4711, 200));
    objects[root] = pattern(4711, 200);
  }
  scute_oid add(size_t n) {
    const bytes content = pattern(++key_, n);
    const scute_oid oid = alloc(content, 100 + static_cast<uint32_t>(n % 7));
    EXPECT_NE(oid, 0u) << scute_errormsg();
    objects[oid] = content;
    return oid;
  }
  void expect_objects() {
    for (const auto& [oid, content] : objects) EXPECT_TRUE(read(oid) == content) << content.size();
    uint64_t seen = 0;
    scute_oid at = 0;
    for (int e = scute_first(pool, SCUTE_TYPE_ANY, &at); at != 0 && e == 0; ++seen) {
      EXPECT_TRUE(objects.count(at) == 1) << at;
      e = scute_next(pool, at, SCUTE_TYPE_ANY, &at);
    }
    EXPECT_EQ(seen, objects.size());
  }
  // Everything is there and sound, and stays so after a repair and a reopening.
  void expect_all_repaired() {
    expect_objects();
    std::vector<std::string> findings;
    EXPECT_EQ(check(true, &findings).lost, 0u) << testing::PrintToString(findings);
    expect_sound();
    expect_objects();
    reopen();
    expect_sound();
    expect_objects();
  }

  std::map<scute_oid, bytes> objects;
  scute_oid root = 0;

 private:
  uint64_t key_ = 0;
};

}  // namespace scute::test
