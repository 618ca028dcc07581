// SPDX-License-Identifier: BSD-3-Clause
#include "api/temp_pool.hpp"

namespace {

using scute_test::temp_folder;

TEST(error, compares_with_codes_and_conditions) {
  const std::error_code ec = scute::errc::busy;
  EXPECT_EQ(ec, scute::errc::busy);
  EXPECT_NE(ec, scute::errc::io);
  EXPECT_EQ(ec, std::errc::device_or_resource_busy);
  EXPECT_STREQ(ec.category().name(), "scute");
  EXPECT_EQ(ec.message(), "SCUTE_E_BUSY");
  EXPECT_EQ(make_error_code(scute::errc::corrupt), scute::errc::corrupt);
}

TEST(error, every_code_has_its_own_name) {
  for (int code = SCUTE_E_INVALID; code >= SCUTE_E_CHANGED; --code) {
    const std::error_code ec = static_cast<scute::errc>(code);
    EXPECT_EQ(ec.message().rfind("SCUTE_E_", 0), 0U) << code;
    EXPECT_EQ(ec.value(), code);
  }
}

TEST(error, portable_meanings) {
  const auto same = [](scute::errc code, std::errc portable) {
    return make_error_code(code) == portable;
  };
  EXPECT_TRUE(same(scute::errc::invalid, std::errc::invalid_argument));
  EXPECT_TRUE(same(scute::errc::nomem, std::errc::not_enough_memory));
  EXPECT_TRUE(same(scute::errc::noent, std::errc::no_such_file_or_directory));
  EXPECT_TRUE(same(scute::errc::exists, std::errc::file_exists));
  EXPECT_TRUE(same(scute::errc::readonly, std::errc::read_only_file_system));
  EXPECT_TRUE(same(scute::errc::nospc, std::errc::no_space_on_device));
  EXPECT_TRUE(same(scute::errc::range, std::errc::result_out_of_range));
  EXPECT_TRUE(same(scute::errc::io, std::errc::io_error));
  EXPECT_TRUE(same(scute::errc::unsupported, std::errc::not_supported));
  EXPECT_TRUE(same(scute::errc::forked, std::errc::operation_not_permitted));
  EXPECT_FALSE(same(scute::errc::corrupt, std::errc::io_error));
}

TEST(error, says_what_failed_and_is_a_system_error) {
  const temp_folder folder;
  try {
    scute::pool::open(folder / "absent.pool");
    FAIL() << "opened a pool that is not there";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), scute::errc::noent);
    EXPECT_NE(std::string(e.what()).find("absent.pool"), std::string::npos) << e.what();
  }
}

}  // namespace
