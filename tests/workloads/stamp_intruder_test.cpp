// SPDX-License-Identifier: BSD-3-Clause
// intruder handles every flow once, with the text that its packets make, and raises the alarm
// for the planted attacks and for no others.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "workloads/stamp_suite.hpp"

namespace scute::test {
namespace {

using namespace workloads::stamp;

template <class Stage>
class stamp_intruder : public stamp_suite<Stage> {
 protected:
  void compare(const intruder_input& input, unsigned threads) {
    std::map<uint64_t, std::map<uint32_t, std::string>> pieces;
    for (const auto& p : input.packets)
      ASSERT_TRUE(pieces[p.flow].emplace(p.index, std::string(p.bytes, p.length)).second);
    this->play(input, threads, [&]<class A>(const A& a) {
      std::set<uint64_t> seen;
      uint64_t alarms = 0;
      for (const auto& of_thread : a.findings())
        for (const auto& f : of_thread) {
          EXPECT_TRUE(seen.insert(f.flow).second) << f.flow;
          std::string text;
          for (const auto& [index, piece] : pieces.at(f.flow)) text += piece;
          EXPECT_EQ(f.text_hash, A::hash(text)) << f.flow;
          EXPECT_EQ(f.attack, text.find('#') != std::string::npos) << f.flow;
          alarms += f.attack ? 1 : 0;
        }
      EXPECT_EQ(seen.size(), pieces.size());
      EXPECT_EQ(alarms, std::count(input.attacks.begin(), input.attacks.end(), true));
    });
  }
};
TYPED_TEST_SUITE(stamp_intruder, stamp_stages, stamp_stage_name);

TYPED_TEST(stamp_intruder, one_thread) {
  this->compare(intruder_input({300, 12, 20, 3}), 1);
}
TYPED_TEST(stamp_intruder, two_threads) {
  this->compare(intruder_input({300, 12, 20, 4}), 2);
}
TYPED_TEST(stamp_intruder, flows_of_one_packet) {
  this->compare(intruder_input({100, 1, 50, 5}), 2);
}
// Texts take more than one block.
TYPED_TEST(stamp_intruder, long_flows) {
  this->compare(intruder_input({20, 60, 50, 6}), 1);
}

TEST(stamp_intruder_input, signatures_are_found) {
  EXPECT_TRUE(intruder_input::suspicious("abc#rootkitxyz"));
  EXPECT_FALSE(intruder_input::suspicious("rootkit #rootki"));
}

}  // namespace
}  // namespace scute::test
