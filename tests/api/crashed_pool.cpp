// SPDX-License-Identifier: BSD-3-Clause
#include "api/crashed_pool.hpp"

#include "scrub/crash_image.hpp"

namespace scute_test {

crashed_pool make_crashed_pool(const std::string& path) {
  using namespace scute::test;
  crash_image f;
  crashed_pool made;
  made.path = path;
  for (uint64_t i = 0; i < 4; ++i) {
    made.contents.push_back(pattern(i, 400));
    made.oids.push_back(f.add(made.contents.back()));
  }
  f.cut([&](scute_tx* tx, auto& after) {
    for (const scute_oid oid : {made.oids[0], made.oids[2]}) {
      void* p = nullptr;
      EXPECT_EQ(SCUTE_OK, scute_tx_open(tx, oid, &p)) << scute_errormsg();
      std::memset(p, 9, 400);
      after[oid] = bytes(400, 9);
    }
  });
  f.load(f.with(f.words_of(made.oids[0])));
  f.close();
  write_file(path, read_file(f.path));
  return made;
}

}  // namespace scute_test
