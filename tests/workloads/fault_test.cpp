// SPDX-License-Identifier: BSD-3-Clause
// Damage in the objects of a map: reads of a pool that tests the bytes it reads, and all
// transactions, continue to give the right answers, and afterwards nothing is wrong any more.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "support/seed.hpp"
#include "workloads/key_family.hpp"
#include "workloads/kinds.hpp"
#include "workloads/stages.hpp"

namespace scute::test {
namespace {

struct place {
  uint64_t offset, size;
};

template <class Kind>
class map_fault : public ::testing::Test {
 protected:
  using map_type = typename Kind::template map<workloads::scute_store>;
  using value = typename map_type::value;
  using tx = workloads::scute_store::tx;

  template <class Stage>
  static map_type map_on(Stage& stage) {
    return map_type(stage.store().template root<typename map_type::root>());
  }
  template <class Stage>
  static std::vector<place> objects_of(Stage& stage) {
    std::vector<place> all;
    for (const auto p : stage.pool().objects())
      all.push_back({p.oid() & ((uint64_t{1} << 48) - 1), stage.pool().size_of(p)});
    return all;
  }
  // Inverts bytes of the file; the mapping shows it at once.
  static void spoil(const std::filesystem::path& path, uint64_t offset, size_t n) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    std::vector<unsigned char> bytes(n);
    const auto at = static_cast<off_t>(offset);
    const bool done = ::pread(fd, bytes.data(), n, at) == static_cast<ssize_t>(n) && [&] {
      for (unsigned char& b : bytes) b = static_cast<unsigned char>(~b);
      return ::pwrite(fd, bytes.data(), n, at) == static_cast<ssize_t>(n);
    }();
    ::close(fd);
    ASSERT_TRUE(done);
  }

  // One map on one pool, and what must be in it.
  template <class Stage>
  struct subject {
    explicit subject(random_source& r)
        : random(r),
          stage({.policy = policy::conservative}),
          map(map_on(stage)),
          keys(awkward_keys(r, 400)) {
      for (size_t i = 0; i < keys.size(); i += 2)
        stage.store().transact([&](tx& t) { map.insert(t, keys[i], value::of(i)); });
      for (size_t i = 0; i < keys.size(); i += 2) expected[keys[i]] = i;
    }

    void compare(const value* found, uint64_t k) {
      const auto there = expected.find(k);
      ASSERT_EQ(found != nullptr, there != expected.end()) << k;
      if (found != nullptr) {
        ASSERT_EQ(*found, value::of(there->second)) << k;
      }
    }
    void read_all() {
      for (const uint64_t k : keys) compare(map.get(stage.store().view(), k), k);
      ASSERT_EQ(map.check(stage.store().view()), "");
    }
    void change_some() {
      for (int i = 0; i < 10; ++i) {
        const uint64_t k = keys[random.between(0, keys.size() - 1)], v = random.word();
        const bool there = expected.count(k) != 0;
        stage.store().transact([&](tx& t) {
          compare(map.get(t, k), k);
          if (random.one_in(2)) {
            ASSERT_EQ(map.insert(t, k, value::of(v)), !there) << k;
            expected[k] = v;
          } else {
            ASSERT_EQ(map.remove(t, k), there) << k;
            expected.erase(k);
          }
        });
      }
    }
    // A few bytes of some object.
    place pick() {
      const std::vector<place> all = objects_of(stage);
      const place object = all[random.between(0, all.size() - 1)];
      const uint64_t n = std::min(object.size, random.size(64));
      return {object.offset + random.between(0, object.size - n), n};
    }
    uint64_t repairs() const { return stage.pool().stats().repairs; }

    random_source& random;
    Stage stage;
    map_type map;
    key_list keys;
    std::map<uint64_t, uint64_t> expected;
  };

  static constexpr int rounds = 60;

  // Objects are damaged one by one, while the pool is open or closed, and found by reading.
  template <class Stage>
  void read_damaged() {
    SCUTE_RANDOM(random);
    subject<Stage> s(random);
    for (int round = 0; round < rounds && !this->HasFatalFailure(); ++round) {
      const place hit = s.pick();
      SCOPED_TRACE(std::to_string(hit.size) + " bytes at " + std::to_string(hit.offset));
      if (round % 2 == 0) s.stage.close();
      spoil(s.stage.path(), hit.offset, hit.size);
      if (round % 2 == 0) {
        s.stage.open();
        s.map = map_on(s.stage);
      }
      // Opening the pool may have come across it.
      const uint64_t before = round % 2 == 0 ? 0 : s.repairs();
      s.read_all();
      EXPECT_GT(s.repairs(), before) << "the damage was not noticed";
      if (round % 10 == 9) s.stage.verify();
    }
  }

  // The same, and changes come first.
  template <class Stage>
  void change_damaged() {
    SCUTE_RANDOM(random);
    subject<Stage> s(random);
    const uint64_t before = s.repairs();
    for (int round = 0; round < rounds && !this->HasFatalFailure(); ++round) {
      const place hit = s.pick();
      SCOPED_TRACE(std::to_string(hit.size) + " bytes at " + std::to_string(hit.offset));
      spoil(s.stage.path(), hit.offset, hit.size);
      s.change_some();
      s.read_all();
      if (round % 10 == 9) s.stage.verify();
    }
    EXPECT_GE(s.repairs() - before, rounds / 2u) << "some may have been freed, but not so many";
  }

  // Whole pages of objects are lost.
  template <class Stage>
  void lose_pages() {
    SCUTE_RANDOM(random);
    subject<Stage> s(random);
    for (int round = 0; round < rounds / 4 && !this->HasFatalFailure(); ++round) {
      injection what;
      what.kind = SCUTE_INJURE_LOSE_PAGE;
      what.region = SCUTE_REGION_OBJECT;
      what.seed = random.word();
      SCOPED_TRACE("seed of the injection: " + std::to_string(what.seed));
      ASSERT_EQ(s.stage.pool().inject(what), 1U);
      if (round % 2 == 0) s.change_some();
      s.read_all();
      s.stage.verify();
    }
  }
};
TYPED_TEST_SUITE(map_fault, every_kind, kind_name);

TYPED_TEST(map_fault, read_with_redo) {
  this->template read_damaged<redo_stage>();
}
TYPED_TEST(map_fault, read_with_logfree) {
  this->template read_damaged<logfree_stage>();
}
TYPED_TEST(map_fault, read_with_spec) {
  this->template read_damaged<spec_stage>();
}
TYPED_TEST(map_fault, change_with_redo) {
  this->template change_damaged<redo_stage>();
}
TYPED_TEST(map_fault, change_with_logfree) {
  this->template change_damaged<logfree_stage>();
}
TYPED_TEST(map_fault, change_with_spec) {
  this->template change_damaged<spec_stage>();
}
TYPED_TEST(map_fault, lose_pages_with_redo) {
  this->template lose_pages<redo_stage>();
}
TYPED_TEST(map_fault, lose_pages_with_logfree) {
  this->template lose_pages<logfree_stage>();
}
TYPED_TEST(map_fault, lose_pages_with_spec) {
  this->template lose_pages<spec_stage>();
}

}  // namespace
}  // namespace scute::test
