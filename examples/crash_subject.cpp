// SPDX-License-Identifier: BSD-3-Clause
// A crash test of a structure that lies in no pool: a list of numbers on persistent memory. The
// first version counts a number with the same fence that makes it durable, and the explorer shows
// which power failure that does not survive; the second one is sound.
//
//   crash_subject
#include <scute/exploration.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace {

class numbers : public scute::testing::subject {
 public:
  explicit numbers(bool careful) : careful_(careful) {}

  void append(uint64_t number) {
    put(list_->number[list_->count], number);
    if (careful_) out_->fence();  // it is durable before it counts
    put(list_->count, list_->count + 1);
    out_->fence();
  }
  void pop() {
    put(list_->count, list_->count - 1);
    out_->fence();
  }
  std::string text() const {
    std::string all;
    for (uint64_t i = 0; i < list_->count; ++i) all += std::to_string(list_->number[i]) + " ";
    return all;
  }

  // The functions that the explorer calls.
  uint64_t size() const override { return 4096; }
  void create(scute::testing::memory& m, uint64_t) override { open(m); }  // zeros: no number
  void open(scute::testing::memory& m) override {
    list_ = reinterpret_cast<list*>(m.bytes().data());
    out_.emplace(m);
  }
  scute::testing::findings check(bool) override {
    scute::testing::findings found;
    if (list_->count > list::room) found.add("more numbers than there is room for");
    return found;
  }
  void probe() override {
    append(0);
    pop();
  }
  void close() override { abandon(); }
  void abandon() noexcept override { out_.reset(); }

 private:
  struct list {
    static constexpr uint64_t room = 504;
    uint64_t count;
    alignas(64) uint64_t number[room];
  };
  void put(uint64_t& to, uint64_t value) {
    out_->store(&to, &value, sizeof to);
    out_->flush(&to, sizeof to);
  }

  const bool careful_;
  list* list_ = nullptr;
  std::optional<scute::testing::writer> out_;
};

scute::testing::exploration explore(const char* name, bool careful) {
  scute::testing::scenario_of<numbers> s(name, [=] { return std::make_unique<numbers>(careful); });
  for (uint64_t i = 1; i <= 3; ++i)
    s.step("append " + std::to_string(i), [i](numbers& all) { all.append(i); });
  s.step("pop", [](numbers& all) { all.pop(); });
  s.observe([](numbers& all) { return all.text(); });
  return scute::testing::explore(s);
}

}  // namespace

int main() {
  const auto bad = explore("one fence", false);
  std::printf("%s\n", bad.story.c_str());
  const auto good = explore("two fences", true);
  std::printf("two fences: %s after %llu crash states\n", good.sound ? "sound" : "NOT SOUND",
              static_cast<unsigned long long>(good.states));
  return !bad.sound && good.sound ? 0 : 1;
}
