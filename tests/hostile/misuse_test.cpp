// SPDX-License-Identifier: BSD-3-Clause
// Every function of scute.h called wrongly in every way that its parameters allow. The list
// (misuse_list.hpp) is compared with what the shared library exports: a function without misuse
// fails the test.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "hostile/misuse_list.hpp"
#include "support/project_paths.hpp"

namespace scute::test {
namespace {

const misuse_list& all_misuse() {
  static const misuse_list all = [] {
    misuse_list to;
    list_misuse_of_pools(to);
    list_misuse_of_reading(to);
    list_misuse_of_transactions(to);
    list_misuse_of_services(to);
    list_misuse_of_pow(to);
    list_misuse_of_shield(to);
    return to;
  }();
  return all;
}

class misuse : public testing::TestWithParam<std::pair<const std::string, misuse_fn>> {};

TEST_P(misuse, IsRefused) {
  misuse_stage s;
  GetParam().second(s);
  s.expect_nothing_happened();
}

INSTANTIATE_TEST_SUITE_P(Of, misuse, testing::ValuesIn(all_misuse()),
                         [](const auto& p) { return p.param.first; });

TEST(misuse_list, HasEveryExportedFunction) {
  const std::string list =
      std::string("nm -D --defined-only --format=posix ") + build_folder + "/lib/libscute.so";
  FILE* nm = ::popen(list.c_str(), "r");
  ASSERT_NE(nm, nullptr);
  std::set<std::string> exported, listed;
  char line[512];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    const std::string name(line, std::strcspn(line, "@ \n"));
    if (name.rfind("scute_", 0) == 0) exported.insert(name);
  }
  ASSERT_EQ(::pclose(nm), 0);
  for (const auto& [name, fn] : all_misuse()) listed.insert(name);
  EXPECT_EQ(exported, listed);
  EXPECT_GE(listed.size(), 52u);
}

}  // namespace
}  // namespace scute::test
