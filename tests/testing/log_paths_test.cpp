// SPDX-License-Identifier: BSD-3-Clause
// The place of a log file, in a folder and in a simulated memory: what the explorer sees of a log
// file has to be what a disk does (STREAM-1, PLACE-2, CLOG-7). Each test runs on both.
#include "core/medium/log_paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/failure.hpp"
#include "support/scratch.hpp"
#include "testing/pool/pool_handle.hpp"
#include "testing/pool/simulated_place.hpp"

namespace scute::testing {
namespace {

using core::medium::access;
using core::medium::log_paths;
using core::medium::purpose;
using core::medium::writer;
using test::bytes;
using name = log_paths::name;

constexpr uint64_t page = 4096, size = 8 * page, pool_size = 16 * page;

bytes read(const core::medium::medium& m, uint64_t offset, size_t n) {
  bytes b(n, 0xee);
  EXPECT_TRUE(m.read(offset, b.data(), n)) << offset;
  return b;
}
void stream(writer& w, core::medium::medium& m, uint64_t offset, const bytes& b) {
  w.stream(m.base() + offset, b.data(), b.size(), purpose::log);
}
bytes filled(unsigned char with, size_t n = 256) {
  return bytes(n, with);
}

// The bytes of a memory that fences have made durable.
class durable_bytes final : public model::memory_listener {
 public:
  explicit durable_bytes(model::simulated_memory& m) : memory_(m) {
    content.assign(reinterpret_cast<const unsigned char*>(m.bytes().data()),
                   reinterpret_cast<const unsigned char*>(m.bytes().data()) + m.bytes().size());
    m.listener = this;
  }
  ~durable_bytes() override { memory_.listener = nullptr; }
  durable_bytes(const durable_bytes&) = delete;
  durable_bytes& operator=(const durable_bytes&) = delete;

  void streamed(uint64_t offset, size_t n, unsigned w) override { flushed(offset, n, w); }
  void stored(uint64_t, size_t) override {}
  void flushed(uint64_t offset, size_t n, unsigned w) override {
    const auto* const from =
        reinterpret_cast<const unsigned char*>(memory_.bytes().data()) + offset;
    under_way_[w].emplace_back(offset, bytes(from, from + n));
  }
  void fenced(unsigned w) override {
    for (const auto& [offset, b] : std::exchange(under_way_[w], {}))
      std::copy(b.begin(), b.end(), content.begin() + static_cast<long>(offset));
  }
  void damaged(uint64_t, size_t) override {}

  bool has(const bytes& b) const {
    return std::search(content.begin(), content.end(), b.begin(), b.end()) != content.end();
  }

  bytes content;

 private:
  model::simulated_memory& memory_;
  std::map<unsigned, std::vector<std::pair<uint64_t, bytes>>> under_way_;
};

enum class world : uint8_t { folder, memory };

class log_paths_test : public ::testing::TestWithParam<world> {
 protected:
  log_paths_test() {
    const std::string pool = dir_.file("x.pool");
    test::write_file(pool, bytes(pool_size));
    place = GetParam() == world::folder ? core::medium::log_paths_of(pool, 0600)
                                        : place_in(memory, pool_size);
  }
  // As a crash would find it.
  bool is_durable(const bytes& b) const {
    if (GetParam() == world::memory) return durable.has(b);
    for (const auto& f : {place->path(name::named), place->path(name::coming)}) {
      if (!std::filesystem::exists(f)) continue;
      const bytes all = test::read_file(f);
      if (std::search(all.begin(), all.end(), b.begin(), b.end()) != all.end()) return true;
    }
    return false;
  }

 private:
  test::scratch dir_{test::scratch::disk};

 public:
  model::simulated_memory memory{pool_size + simulated_place_size, false};
  durable_bytes durable{memory};
  std::unique_ptr<log_paths> place;
};

// STREAM-1
TEST_P(log_paths_test, NothingIsReadBackBeforeAFence) {
  const auto m = place->make(size);
  writer w(*m);
  stream(w, *m, page, filled(1));
  EXPECT_EQ(read(*m, page, 256), filled(0));
  EXPECT_FALSE(is_durable(filled(1)));
  w.fence(core::fence_site::test);
  EXPECT_EQ(read(*m, page, 256), filled(1));
  EXPECT_TRUE(is_durable(filled(1)));
  // Part of the requested range is new.
  stream(w, *m, page + 128, filled(2));
  bytes expected = filled(1);
  expected.resize(512);
  EXPECT_EQ(read(*m, page, 512), expected);
  w.fence(core::fence_site::test);
  std::fill_n(expected.begin() + 128, 256, static_cast<unsigned char>(2));
  EXPECT_EQ(read(*m, page, 512), expected);
}

// CLOG-7
TEST_P(log_paths_test, AFenceIsOneOfWhatOthersHaveStreamedBefore) {
  const auto m = place->make(size);
  writer a(*m), b(*m);
  stream(a, *m, page, filled(1));
  stream(b, *m, 2 * page, filled(2));
  b.fence(core::fence_site::test);
  EXPECT_TRUE(is_durable(filled(1)));
  EXPECT_TRUE(is_durable(filled(2)));
  stream(b, *m, 3 * page, filled(3));
  a.fence(core::fence_site::test);
  EXPECT_TRUE(is_durable(filled(3)));
}

// A fence of a thread that has streamed nothing is no fence: no thread may count on it for
// others.
TEST_P(log_paths_test, AFenceOfAThreadThatStreamedNothingIsNone) {
  const auto m = place->make(size);
  writer a(*m), b(*m);
  stream(a, *m, page, filled(1));
  b.fence(core::fence_site::test);
  EXPECT_FALSE(is_durable(filled(1)));
  EXPECT_EQ(read(*m, page, 256), filled(0));
  a.fence(core::fence_site::test);
  EXPECT_TRUE(is_durable(filled(1)));
}

// STREAM-1: this holds whichever writer streams, and whichever writer fences.
TEST_P(log_paths_test, PiecesThatOverlapKeepTheirOrder) {
  const auto m = place->make(size);
  writer a(*m), b(*m);
  stream(a, *m, page, filled(1));
  stream(b, *m, page + 64, filled(2, 64));
  stream(a, *m, page + 96, filled(3, 64));
  b.fence(core::fence_site::test);
  bytes expected = filled(1);
  std::fill_n(expected.begin() + 64, 32, static_cast<unsigned char>(2));
  std::fill_n(expected.begin() + 96, 64, static_cast<unsigned char>(3));
  EXPECT_EQ(read(*m, page, 256), expected);
  EXPECT_TRUE(is_durable(expected));
}

// PLACE-2, LOGFILE-6
TEST_P(log_paths_test, NamesAndLengths) {
  EXPECT_EQ(place->open(name::named, access::write), nullptr);
  EXPECT_EQ(place->open(name::coming, access::write), nullptr);
  {
    const auto m = place->make(size);
    writer w(*m);
    stream(w, *m, size - 256, filled(1));
    w.fence(core::fence_site::test);
    unsigned char more[2];
    EXPECT_FALSE(m->read(size - 1, more, 2)) << "after its end";
  }
  EXPECT_EQ(place->open(name::named, access::write), nullptr);
  EXPECT_NE(place->open(name::coming, access::write), nullptr);
  place->give_name();
  EXPECT_EQ(place->open(name::coming, access::write), nullptr);
  {
    const auto m = place->open(name::named, access::write);
    ASSERT_NE(m, nullptr);
    ASSERT_EQ(m->size(), size);
    EXPECT_EQ(read(*m, size - 256, 256), filled(1));
    place->resize(*m, size + page);
    EXPECT_EQ(m->size(), size + page);
    EXPECT_EQ(read(*m, size, page), filled(0, page));
    // The bytes that were cut off do not come back.
    place->resize(*m, size - page);
    EXPECT_EQ(m->size(), size - page);
    place->resize(*m, size);
    EXPECT_EQ(read(*m, size - page, page), filled(0, page));
  }
  // Another log next to it takes the name when that is free (OURS-3).
  {
    const auto m = place->make(2 * page);
  }
  EXPECT_THROW(place->give_name(), core::failure);
  EXPECT_EQ(place->open(name::named, access::write)->size(), size);
  EXPECT_TRUE(place->remove(name::named));
  EXPECT_FALSE(place->remove(name::named));
  place->give_name();
  {
    const auto m = place->open(name::named, access::write);
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(m->size(), 2 * page);
  }
  place->remove(name::named);
  EXPECT_EQ(place->open(name::named, access::write), nullptr);
}

// Nothing goes anywhere.
TEST_P(log_paths_test, ForReadingOnly) {
  {
    const auto m = place->make(size);
  }
  place->give_name();
  if (GetParam() == world::memory) return;  // pools in a memory are not opened in that way
  const auto m = place->open(name::named, access::read);
  ASSERT_NE(m, nullptr);
  writer w(*m);
  stream(w, *m, page, filled(1));
  w.fence(core::fence_site::test);
  EXPECT_EQ(read(*m, page, 256), filled(0));
  EXPECT_FALSE(is_durable(filled(1)));
}

INSTANTIATE_TEST_SUITE_P(world, log_paths_test, ::testing::Values(world::folder, world::memory),
                         [](const ::testing::TestParamInfo<world>& i) {
                           return i.param == world::folder ? "Folder" : "Memory";
                         });

}  // namespace
}  // namespace scute::testing
