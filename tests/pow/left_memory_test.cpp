// SPDX-License-Identifier: BSD-3-Clause
// A store that was closed, and one that could not be opened, leave no memory allocated.
#include "support/left_memory.hpp"
#include "files.hpp"

#ifdef SCUTE_TEST_COUNTS_MEMORY

namespace scute::pow {
namespace {

class LeftMemory : public test::pow_files {};
INSTANTIATE_TEST_SUITE_P(, LeftMemory, testing::Values(test::scratch::memory), test::name_of_place);

// Each section does what a section can do. There is a cleaner.
TEST_P(LeftMemory, OfStoresThatWereClosed) {
  for (const auto protect : {SCUTE_POW_NONE, SCUTE_POW_SEALED, SCUTE_POW_ALWAYS}) {
    SCOPED_TRACE(protect);
    path = folder.file(std::to_string(protect).c_str());
    options o = small();
    o.protection = protect;
    o.flags = 0;
    uint64_t i = 0;
    test::expect_none_left([&] {
      store db(path, o);
      map<uint64_t, std::string> all(db, "all");
      queue<uint64_t> some(db, "some");
      {
        auto s = db.section(m);
        ++i;
        all.edit(i % 50) = std::string(1000 + i % 100, 'x');
        if (i % 50 != 0) all.erase(i % 50);
        some.push(i);
        if (some.size() > 5) some.pop();
        s.commit();
      }
      auto aborted = db.section(m, later);
      all.edit(1) = "never";
      aborted.abort();
    });
  }
}

TEST_P(LeftMemory, OfKeptHandles) {
  test::expect_none_left([&] {
    scute_pow* db = nullptr;
    scute_pow_file* file = nullptr;
    uint64_t word = 0;
    scute_pow_options o;
    scute_pow_options_init(&o);
    ASSERT_EQ(scute_pow_open(path.c_str(), &o, &db), SCUTE_OK);
    ASSERT_EQ(scute_pow_keep(db), SCUTE_OK);
    ASSERT_EQ(scute_pow_alloc(db, "words", sizeof word, &file), SCUTE_OK);
    scute_pow_count(file, &word);
    if (word < 5) {
      ASSERT_EQ(scute_pow_store(file, &word), SCUTE_OK);
    }
    ASSERT_EQ(scute_pow_close(db), SCUTE_OK);
    scute_pow_drop(db);
  });
}

TEST_P(LeftMemory, OfStoresThatWereNotOpened) {
  store db(path, small());
  test::expect_none_left([&] { EXPECT_EQ(code_of([&] { store(path, small()); }), errc::busy); });
  db.close();
  auto bytes = test::read_file(path);
  std::fill(bytes.begin(), bytes.begin() + 3 * 4096, static_cast<unsigned char>(7));
  test::write_file(path, bytes);
  test::expect_none_left([&] { EXPECT_EQ(code_of([&] { store(path, small()); }), errc::format); });
}

}  // namespace
}  // namespace scute::pow

#endif
