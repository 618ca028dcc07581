// SPDX-License-Identifier: BSD-3-Clause
// A crash test of a structure of one's own: a ring buffer of log lines. The first version appends a
// line in two transactions, and the explorer shows which power failure that does not survive; the
// second one is sound.
//
//   crash_test
//
// In a test suite the last lines of main() would be EXPECT_TRUE(result.sound) << result.story.
#include <scute/testing.hpp>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

struct ring {
  static constexpr uint64_t room = 4;
  uint64_t next;  // how many lines were ever appended
  uint32_t checks[room];
  char lines[room][40];
};

uint32_t check_of(const char* line) {
  uint32_t sum = 1;
  for (; *line != '\0'; ++line) sum = sum * 31 + static_cast<unsigned char>(*line);
  return sum;
}

// The lines that the structure promises to keep: the last ones, oldest first, each as appended.
std::string lines_of(scute::pool& p) {
  const ring& r = p.get_verified(p.root<ring>());
  std::string text;
  for (uint64_t i = r.next > ring::room ? r.next - ring::room : 0; i < r.next; ++i) {
    const char* line = r.lines[i % ring::room];
    if (check_of(line) != r.checks[i % ring::room])
      throw std::runtime_error("a line does not match its check");
    text += std::string(line) + "; ";
  }
  return text;
}

void write_line(ring& r, uint64_t at, const std::string& line) {
  std::snprintf(r.lines[at], sizeof r.lines[at], "%s", line.c_str());
  r.checks[at] = check_of(r.lines[at]);
}

// Counts the line before it is there, and leaves it to a second transaction to write it.
void append_badly(scute::pool& p, const std::string& line) {
  const auto root = p.root<ring>();
  uint64_t at = 0;
  p.transact([&](scute::tx& tx) { at = tx.open(root).next++ % ring::room; });
  p.transact([&](scute::tx& tx) { write_line(tx.open(root), at, line); });
}

void append(scute::pool& p, const std::string& line) {
  const auto root = p.root<ring>();
  p.transact([&](scute::tx& tx) {
    ring& r = tx.open(root);
    write_line(r, r.next % ring::room, line);
    ++r.next;
  });
}

scute::testing::exploration explore(const char* name,
                                    void (*append_line)(scute::pool&, const std::string&)) {
  scute::testing::scenario s(name);
  s.setup([](scute::pool& p) { p.root<ring>(); });
  for (int i = 1; i <= 6; ++i)
    s.step("append line " + std::to_string(i),
           [append_line, i](scute::pool& p) { append_line(p, "line " + std::to_string(i)); });
  s.observe(lines_of);
  return scute::testing::explore(s);
}

}  // namespace

int main() {
  const auto bad = explore("ring, two transactions", append_badly);
  std::printf("%s\n", bad.story.c_str());
  const auto good = explore("ring, one transaction", append);
  std::printf("one transaction: %s after %llu crash states\n", good.sound ? "sound" : "NOT SOUND",
              static_cast<unsigned long long>(good.states));
  return !bad.sound && good.sound ? 0 : 1;
}
