// SPDX-License-Identifier: BSD-3-Clause
// Random transactions on a pool whose power may fail at every fence. Each image that a failure
// could leave is recovered (and the power fails again during some recoveries); the objects must
// then be those of before or after the transaction in flight, every check must find the pool sound,
// and a further transaction must work.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "capi/instance.hpp"
#include "engine/crash_medium.hpp"
#include "heal/check.hpp"
#include "tx/verify.hpp"

namespace scute::test {
namespace {

using bytes = std::vector<std::byte>;
using model = std::map<uint64_t, bytes>;  // by oid

// Sanitizers slow this down tenfold, and find what they can find in a few operations.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned default_operations = 10;
#else
constexpr unsigned default_operations = 40;
#endif

struct setup {
  scute_protection protection = SCUTE_PROTECT_MLPC;
  scute_checksum checksum = SCUTE_CHECKSUM_CRC32C;
  uint64_t size = uint64_t{1} << 20;
  unsigned images_per_fence = 3;
  unsigned operations = default_operations;
};

scute_options options_of(const setup& s) {
  scute_options o;
  scute_options_init(&o);
  o.size = s.size;
  o.protection = s.protection;
  o.checksum = s.checksum;
  o.lanes = 3;
  o.chunk_size = 16384;
  o.rows = 4;
  return o;
}

bytes read(instance& in, uint64_t oid) {
  const heap::object o = in.heap->zones().locate(tx::payload_of(in.s, oid));
  const auto h = tx::live_header(in.s, nullptr, o);
  bytes out(format::meta_size(h.meta));
  tx::copy_verified(in.s, nullptr, o, out.size(), 0, out.size(), out.data());
  return out;
}

// The objects that headers say are there, read with verification.
model contents(instance& in) {
  model m;
  auto& zones = in.heap->zones();
  heap::zone& z = zones.get(0);
  for (uint32_t i = 0; i < z.high_water; ++i) {
    heap::chunk_state& c = z.chunks[i];
    const auto visit = [&](const heap::object& o) {
      format::fragment_header h = zones.read_header(o);
      if (format::meta_state(h.meta) != format::state::live) return;
      const uint64_t oid = in.s.oid_of(o.payload);
      m[oid] = read(in, oid);
    };
    if (c.kind == heap::use::run)
      for (uint32_t k = 0; k < c.formatted; ++k) visit(zones.slot_object(c, k));
    if (c.kind == heap::use::span) visit(zones.span_object(c));
  }
  return m;
}

struct finding_log {
  std::string text;
  static void add(void* self, const char* what, uint64_t offset, uint64_t length, scute_oid, int) {
    auto* log = static_cast<finding_log*>(self);
    log->text +=
        std::string(" ") + what + "@" + std::to_string(offset) + "+" + std::to_string(length);
  }
};

void expect_sound(instance& in) {
  finding_log log;
  heal::check_options o;
  o.finding = &finding_log::add;
  o.arg = &log;
  scute_report r{};
  heal::check(in.s, *in.heap, o, r);
  EXPECT_EQ(r.damaged, 0u) << log.text;
}

class explorer {
 public:
  explorer(const setup& s, uint64_t seed) : setup_(s), random_(seed) {
    crash_medium::image zero(s.size);
    auto m = std::make_unique<crash_medium>(zero);
    medium_ = m.get();
    pool_ = instance::format(std::move(m), "simulated", options_of(s));
  }

  void run() {
    medium_->before_fence = [this] { collect(); };
    for (unsigned i = 0; i < setup_.operations && !::testing::Test::HasFailure() && !violated;
         ++i) {
      model after = model_;
      images_.clear();
      transact(after);
      for (unsigned k = 0; k < 2; ++k) images_.push_back(medium_->crash(k, random_));
      if (quiet && violated) break;
      // The last two images are of after the commit: only the new state will do.
      for (size_t n = 0; n < images_.size() && !::testing::Test::HasFailure() && !violated; ++n)
        recover_and_check(images_[n], n + 2 < images_.size() ? &model_ : nullptr, after, true);
      model_ = std::move(after);
      EXPECT_TRUE(contents(*pool_) == model_) << "without any crash" << story_;
    }
    medium_->before_fence = nullptr;
    if (!::testing::Test::HasFailure()) expect_sound(*pool_);
  }

  uint64_t states = 0;
  // Lets every nth fence pass without effect, to see that the explorer notices.
  void break_fences(unsigned nth) {
    medium_->fence_works = [this, nth] { return ++fence_ % nth != 0; };
  }
  bool quiet = false;
  bool violated = false;

 private:
  void collect() {
    for (unsigned k = 0; k < setup_.images_per_fence; ++k)
      images_.push_back(medium_->crash(k, random_));
  }

  bytes random_bytes(size_t n) {
    bytes b(n);
    for (auto& x : b) x = static_cast<std::byte>(random_());
    return b;
  }
  uint64_t random_size() {
    switch (random_() % 8) {
      case 0: return 1 + random_() % 32;
      case 1: return 4000 + random_() % 300;
      case 2: return 8000 + random_() % 2000;
      case 3: return 17000 + random_() % 30000;
      default: return 1 + random_() % 1000;
    }
  }
  uint64_t pick(const model& m) {
    auto it = m.begin();
    std::advance(it, static_cast<long>(random_() % m.size()));
    return it->first;
  }

  // One transaction of random operations on a random lane; updates `after` to match.
  void transact(model& after) {
    tx::transaction& t = pool_->transactions[random_() % pool_->s.lanes.size()];
    const model before = after;
    story_ += "\nlane " + std::to_string(t.lane().index) + ":";
    t.begin();
    try {
      const unsigned n = random_() % 4 == 0 ? 1 + static_cast<unsigned>(random_() % 6) : 1;
      for (unsigned i = 0; i < n; ++i) operate(t, after);
      if (random_() % 8 == 0) {
        story_ += " abort";
        t.abort();
        after = before;
      } else {
        t.commit();
      }
    } catch (const failure& e) {
      ASSERT_EQ(e.code(), SCUTE_E_NOSPC) << e.what();
      t.abort();
      after = before;
    }
  }

  void operate(tx::transaction& t, model& after) {
    const unsigned what = static_cast<unsigned>(random_() % 10);
    if (after.empty() || what < 3) {
      const bytes b = random_bytes(random_size());
      void* to = nullptr;
      const uint64_t oid = t.alloc(b.size(), 7, &to);
      std::memcpy(to, b.data(), b.size());
      after[oid] = b;
      story_ += " alloc " + std::to_string(oid & 0xffffffff) + "+" + std::to_string(b.size());
      return;
    }
    const uint64_t oid = pick(after);
    bytes& b = after[oid];
    const uint64_t at = random_() % b.size();
    const uint64_t length = 1 + random_() % (b.size() - at);
    if (what < 5) {
      try {
        t.free(oid);
        after.erase(oid);
        story_ += " free " + std::to_string(oid & 0xffffffff);
      } catch (const failure& e) {
        ASSERT_EQ(e.code(), SCUTE_E_INVALID) << e.what();  // open in place
      }
    } else if (what < 7) {
      const bytes fresh = random_bytes(b.size());
      try {
        std::memcpy(t.open(oid), fresh.data(), fresh.size());
        b = fresh;
        story_ += " open " + std::to_string(oid & 0xffffffff);
      } catch (const failure& e) {
        ASSERT_EQ(e.code(), SCUTE_E_INVALID);  // open in place already
      }
    } else {
      const bytes fresh = random_bytes(length);
      try {
        void* to = what < 9 ? t.add_range(oid, at, length) : t.in_place(oid, at, length);
        std::memcpy(to, fresh.data(), length);
        std::memcpy(b.data() + at, fresh.data(), length);
        story_ += (what < 9 ? " range " : " in-place ") + std::to_string(oid & 0xffffffff) + "@" +
                  std::to_string(at) + "+" + std::to_string(length);
      } catch (const failure& e) {
        ASSERT_EQ(e.code(), SCUTE_E_INVALID);
      }
    }
  }

  void recover_and_check(const crash_medium::image& image, const model* old, const model& fresh,
                         bool again) {
    ++states;
    auto m = std::make_unique<crash_medium>(image);
    crash_medium* medium = m.get();
    std::vector<crash_medium::image> second;
    if (again)
      medium->before_fence = [&] {
        if (random_() % 3 == 0) second.push_back(medium->crash(2, random_));
      };
    try {
      scute_options o = options_of(setup_);
      auto in = instance::attach(std::move(m), "simulated", o);
      medium->before_fence = nullptr;
      const model now = contents(*in);
      const bool ok = now == fresh || (old != nullptr && now == *old);
      if (!quiet) {
        EXPECT_TRUE(ok) << describe(now, old, fresh) << "\nwhat was done:" << story_;
        expect_sound(*in);
      } else if (!ok) {
        violated = true;
      }
      if (quiet) return;
      // F6, and the next transaction works.
      tx::transaction& t = in->transactions[0];
      t.begin();
      void* to = nullptr;
      const uint64_t oid = t.alloc(40, 1, &to);
      std::memset(to, 0x55, 40);
      EXPECT_EQ(now.count(oid), 0u) << "a live object's place was given away";
      t.commit();
      EXPECT_EQ(read(*in, oid), bytes(40, std::byte{0x55}));
      expect_sound(*in);
    } catch (const failure& e) {
      if (e.code() == SCUTE_E_NOSPC) return;
      violated = true;
      if (!quiet) ADD_FAILURE() << e.what();
    }
    for (const auto& s : second) recover_and_check(s, old, fresh, false);
  }

  static std::string describe(const model& now, const model* old, const model& fresh) {
    std::string text = "recovered " + std::to_string(now.size()) + " objects";
    if (old != nullptr) text += ", before " + std::to_string(old->size());
    text += ", after " + std::to_string(fresh.size());
    const auto differ = [&](const char* name, const model& m) {
      for (const auto& [oid, b] : m) {
        const auto it = now.find(oid);
        if (it == now.end())
          text += std::string("; lacks ") + name + " " + std::to_string(oid & 0xffffffffffff);
        else if (it->second != b)
          text +=
              std::string("; differs from ") + name + " " + std::to_string(oid & 0xffffffffffff);
      }
    };
    if (old != nullptr) differ("before", *old);
    differ("after", fresh);
    return text;
  }

  setup setup_;
  std::mt19937_64 random_;
  crash_medium* medium_ = nullptr;
  std::unique_ptr<instance> pool_;
  model model_;
  std::string story_;
  std::vector<crash_medium::image> images_;
  unsigned fence_ = 0;
};

uint64_t first_seed() {
  const char* s = std::getenv("SCUTE_TEST_SEED");
  return s != nullptr ? std::strtoull(s, nullptr, 0) : 1;
}
unsigned seed_count() {
  const char* s = std::getenv("SCUTE_TEST_SEEDS");
  return s != nullptr ? static_cast<unsigned>(std::strtoul(s, nullptr, 0)) : 1;
}

void explore(const setup& s, const char* name) {
  uint64_t states = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + seed_count(); ++seed) {
    SCOPED_TRACE("repeat with SCUTE_TEST_SEED=" + std::to_string(seed) + " SCUTE_TEST_SEEDS=1");
    explorer e(s, seed);
    e.run();
    states += e.states;
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("%s: %llu crash states\n", name, static_cast<unsigned long long>(states));
}

TEST(Crash, FullProtection) {
  explore({}, "mlpc");
}
TEST(Crash, Adler) {
  setup s;
  s.checksum = SCUTE_CHECKSUM_ADLER32;
  s.operations = default_operations / 2;
  explore(s, "mlpc, adler32");
}
TEST(Crash, ParityWithoutChecksums) {
  setup s;
  s.protection = SCUTE_PROTECT_MLP;
  explore(s, "mlp");
}
TEST(Crash, ReplicatedLogs) {
  setup s;
  s.protection = SCUTE_PROTECT_ML;
  explore(s, "ml");
}
TEST(Crash, Unprotected) {
  setup s;
  s.protection = SCUTE_PROTECT_NONE;
  explore(s, "none");
}

TEST(Crash, LostFencesAreNoticed) {
  // The explorer must be able to fail: with every other fence removed it has to see damage.
  setup s;
  s.operations = 60;
  s.images_per_fence = 6;
  explorer e(s, first_seed());
  e.quiet = true;
  e.break_fences(2);
  e.run();
  EXPECT_TRUE(e.violated);
}

}  // namespace
}  // namespace scute::test
