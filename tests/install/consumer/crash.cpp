// An outside test suite: explores a tiny scenario.
#include <scute/testing.hpp>

#include <cstdint>
#include <iostream>
#include <string>

int main() {
  struct counter {
    uint64_t value;
  };
  scute::testing::scenario s("counter");
  s.setup([](scute::pool& p) { p.root<counter>(); });
  for (int i = 0; i < 3; ++i)
    s.step("count", [](scute::pool& p) {
      const auto root = p.root<counter>();
      p.transact([&](scute::tx& tx) { ++tx.open(root).value; });
    });
  s.observe([](scute::pool& p) { return std::to_string(p.get_verified(p.root<counter>()).value); });
  scute::testing::explore_options how;
  how.states = 500;
  const auto result = scute::testing::explore(s, how);
  if (!result.sound || result.states < 100) {
    std::cerr << result.states << " states\n" << result.story;
    return 1;
  }
  std::cout << scute_version() << '\n';
}
