// SPDX-License-Identifier: BSD-3-Clause
#include "codec/checksum/checksum.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "codec/checksum/adler32.hpp"
#include "codec/checksum/crc32c.hpp"
#include "seeded.hpp"

namespace scute::core::codec {
namespace {

constexpr checksum_kind kinds[] = {checksum_kind::none, checksum_kind::crc32c,
                                   checksum_kind::adler32};

TEST(Checksum, NumbersArePartOfTheFormat) {
  EXPECT_EQ(static_cast<int>(checksum_kind::none), 0);
  EXPECT_EQ(static_cast<int>(checksum_kind::crc32c), 1);
  EXPECT_EQ(static_cast<int>(checksum_kind::adler32), 2);
}

TEST(Checksum, NamesAndBack) {
  for (const checksum_kind kind : kinds) {
    checksum_kind parsed = checksum_kind::none;
    EXPECT_TRUE(checksum_parse(checksum_name(kind), parsed));
    EXPECT_EQ(parsed, kind);
  }
  checksum_kind untouched = checksum_kind::adler32;
  EXPECT_FALSE(checksum_parse("crc32", untouched));
  EXPECT_FALSE(checksum_parse("", untouched));
  EXPECT_FALSE(checksum_parse("unknown", untouched));
  EXPECT_EQ(untouched, checksum_kind::adler32);
}

TEST(Checksum, UnknownKindIsHarmless) {
  // As read from a damaged file.
  const auto unknown =
      static_cast<checksum_kind>(77);  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange)
  EXPECT_STREQ(checksum_name(unknown), "unknown");
  EXPECT_EQ(checksum(unknown, "a", 1, "b", 1), 0U);
  EXPECT_EQ(checksum_update(unknown, 5, "a", "b", 1, 0), 0U);
}

TEST(Checksum, OfTwoParts) {
  EXPECT_EQ(checksum(checksum_kind::crc32c, "1234", 4, "56789", 5), 0xE3069283U);
  EXPECT_EQ(checksum(checksum_kind::crc32c, "", 0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(checksum(checksum_kind::crc32c, "123456789", 9, nullptr, 0), 0xE3069283U);
  EXPECT_EQ(checksum(checksum_kind::adler32, "Wiki", 4, "pedia", 5), 0x11E60398U);
  EXPECT_EQ(checksum(checksum_kind::none, "1234", 4, "56789", 5), 0U);
}

// An object changes in random places; its checksum follows without ever reading the rest.
TEST(Checksum, UpdateEqualsRecomputing) {
  SCUTE_RANDOM(random);
  for (const checksum_kind kind : kinds) {
    SCOPED_TRACE(checksum_name(kind));
    for (const size_t size : {1, 31, 64, 100, 4096, 4124, 65536, 300000}) {
      auto object = random.bytes(size);
      uint32_t sum =
          checksum(kind, object.data(), size / 3, object.data() + size / 3, size - size / 3);
      for (int k = 0; k < 60; ++k) {
        const size_t begin = random.length(size);
        const size_t n = random.length(size - begin);
        const auto fresh = random.bytes(n);
        sum = checksum_update(kind, sum, object.data() + begin, fresh.data(), n, size - begin - n);
        std::copy(fresh.begin(), fresh.end(), object.begin() + static_cast<ptrdiff_t>(begin));
        ASSERT_EQ(sum, checksum(kind, object.data(), size, nullptr, 0)) << size << " " << begin;
      }
    }
  }
}

// The update of a wrong checksum stays wrong: damage does not disappear by being written next to.
TEST(Checksum, UpdateKeepsDamageVisible) {
  SCUTE_RANDOM(random);
  for (const checksum_kind kind : {checksum_kind::crc32c, checksum_kind::adler32}) {
    auto object = random.bytes(1000);
    uint32_t sum = checksum(kind, object.data(), object.size(), nullptr, 0);
    object[700] ^= 0x10;
    const auto fresh = random.bytes(64);
    sum = checksum_update(kind, sum, object.data() + 128, fresh.data(), 64, 1000 - 192);
    std::memcpy(object.data() + 128, fresh.data(), 64);
    EXPECT_NE(sum, checksum(kind, object.data(), object.size(), nullptr, 0));
  }
}

}  // namespace
}  // namespace scute::core::codec
