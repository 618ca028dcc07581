// SPDX-License-Identifier: BSD-3-Clause
// Pages that the kernel lists as bad: they are taken up when the pool is opened, and by a scrub, before
// anybody takes what can be read there for their content.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "support/pool_file.hpp"

namespace scute::test {
namespace {

constexpr uint64_t page = 4096;

// Memory with a list of bad pages.
class listed_medium final : public medium::medium {
 public:
  listed_medium(std::byte* memory, uint64_t size, const std::vector<uint64_t>& bad) : bad_(bad) {
    base_ = memory;
    size_ = size;
    kind_ = ::scute::core::medium::kind::ram;
  }
  const char* flush_name() const noexcept override { return "none"; }
  std::vector<uint64_t> bad_pages() const override { return bad_; }

 protected:
  void do_stream(::scute::core::medium::writer&, void* dst, const void* src,
                 size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_flush(::scute::core::medium::writer&, const void*, size_t) noexcept override {}
  void do_fence(::scute::core::medium::writer&) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }

 private:
  const std::vector<uint64_t>& bad_;
};

TEST(bad_page, AreRepairedByOpeningAndByAScrub) {
  const scute_options o = options(2 * mib);
  const uint64_t size = o.size;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes_at = static_cast<std::byte*>(memory);
  std::vector<uint64_t> bad;
  scute_pool pool;
  pool.in = instance::format(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
  scute_oid oid = 0;
  scute_tx* tx = nullptr;
  void* to = nullptr;
  const bytes content = pattern(5, 9000);
  SCUTE_OKAY(scute_tx_begin(&pool, &tx));
  SCUTE_OKAY(scute_tx_alloc(tx, content.size(), 1, &oid, &to));
  std::memcpy(to, content.data(), content.size());
  SCUTE_OKAY(scute_tx_commit(tx));
  const uint64_t object = (oid & 0xffff'ffff'ffffu) & ~(page - 1);
  const auto holds = [&] {
    const void* at = nullptr;
    SCUTE_OKAY_E(scute_get_verified(&pool, oid, &at));
    return at != nullptr && std::memcmp(at, content.data(), content.size()) == 0;
  };
  const auto healed = [&] {
    scute_info i{};
    i.struct_size = sizeof i;
    SCUTE_OKAY_E(scute_pool_info(&pool, &i));
    return i.pages_healed;
  };

  // Two pages of the object, in different columns; and a log and a superblock page.
  const uint64_t lane = pool.in->s.geo.lanes_offset;
  pool.in->close();
  pool.in.reset();
  bad = {page, lane, object, object + page};
  for (const uint64_t at : bad) std::memset(bytes_at + at, 0xee, page);
  pool.in = instance::attach(std::make_unique<listed_medium>(bytes_at, size, bad), "listed", o);
  EXPECT_GE(healed(), 3u);
  EXPECT_TRUE(holds());

  // And one that goes bad while the pool is open.
  const uint64_t before = healed();
  bad = {object};
  std::memset(bytes_at + object, 0xee, page);
  scute_report r{};
  r.struct_size = sizeof r;
  SCUTE_OKAY(scute_scrub(&pool, nullptr, &r));
  EXPECT_EQ(healed(), before + 1);
  EXPECT_EQ(r.lost, 0u);
  EXPECT_TRUE(holds());
  pool.in->close();
  pool.in.reset();
  ::munmap(memory, size);
}

}  // namespace
}  // namespace scute::test
