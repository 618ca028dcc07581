// SPDX-License-Identifier: BSD-3-Clause
// Repeats one section of a persist-on-write store, so that a tool can count its instructions: all
// of them happen in measured().
//   sections PROTECTION OPERATION TIMES        sections --list
#include <scute/pow.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "counter.hpp"

namespace {

namespace pow = scute::pow;

constexpr size_t objects = 4096;

uint64_t state = 12345;
uint64_t next_random() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 24;
}

struct large {
  unsigned char bytes[256];
};
struct small {
  unsigned char bytes[64];
};

pow::options options(const char* protection) {
  pow::options o;
  o.flags = SCUTE_POW_NEW | SCUTE_POW_NO_CLEANER;
  o.medium = SCUTE_MEDIUM_RAM;
  o.size = uint64_t{64} << 20;
  o.max_size = uint64_t{64} << 20;
  o.protection = std::strcmp(protection, "none") == 0     ? SCUTE_POW_NONE
                 : std::strcmp(protection, "sealed") == 0 ? SCUTE_POW_SEALED
                                                          : SCUTE_POW_ALWAYS;
  return o;
}

class bench {
 public:
  explicit bench(const char* protection)
      : db_("sections.pow", options(protection)), large_(db_, "large"), small_(db_, "small") {
    for (size_t i = 0; i < objects; ++i) {
      auto s = db_.section(mutex_);
      large_of_.push_back(large_.make());
      small_of_.push_back(small_.make());
      s.commit();
    }
  }
  void edit_large() {
    auto s = db_.section(mutex_);
    std::memset(large_.edit(large_of_[next_random() % objects]).bytes, 7, sizeof(large));
    s.commit();
  }
  void edit_small(unsigned n) {
    auto s = db_.section(mutex_);
    for (unsigned i = 0; i < n; ++i)
      std::memset(small_.edit(small_of_[next_random() % objects]).bytes, 7, sizeof(small));
    s.commit();
  }
  void make() {
    auto s = db_.section(mutex_);
    small_of_.push_back(small_.make());
    s.commit();
  }
  void erase() {
    auto s = db_.section(mutex_);
    small_.erase(small_of_.back());
    small_of_.pop_back();
    s.commit();
  }
  void later() {
    auto s = db_.section(mutex_, pow::later);
    std::memset(small_.edit(small_of_[next_random() % objects]).bytes, 7, sizeof(small));
    s.commit();
  }
  void read() {
    auto s = db_.section(mutex_);
    if (small_.get(small_of_[next_random() % objects]).bytes[0] > 7) std::abort();
    s.commit();
  }

 private:
  pow::store db_;
  std::mutex mutex_;
  pow::table<large> large_;
  pow::table<small> small_;
  std::vector<pow::ref<large>> large_of_;
  std::vector<pow::ref<small>> small_of_;
};

struct operation {
  const char* name;
  void (*run)(bench& b);
};
constexpr operation operations[] = {
    {"section of one 256", [](bench& b) { b.edit_large(); }},
    {"section of one 64", [](bench& b) { b.edit_small(1); }},
    {"section of 16 x 64", [](bench& b) { b.edit_small(16); }},
    {"section that makes", [](bench& b) { b.make(); }},
    {"section that erases", [](bench& b) { b.erase(); }},
    {"section, later", [](bench& b) { b.later(); }},
    {"section that reads", [](bench& b) { b.read(); }},
};

}  // namespace

extern "C" [[gnu::noinline]] void measured(bench& b, const operation& o, unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) o.run(b);
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const operation& o : operations) std::puts(o.name);
    return 0;
  }
  if (argc != 4) return 2;
  for (const operation& o : operations) {
    if (std::strcmp(o.name, argv[2]) != 0) continue;
    std::filesystem::remove("sections.pow");
    bench b(argv[1]);
    begin_counting();
    measured(b, o, std::strtoul(argv[3], nullptr, 10));
    return 0;
  }
  return 2;
}
