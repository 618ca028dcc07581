// SPDX-License-Identifier: BSD-3-Clause
#include "testing/judge.hpp"

#include <cstring>
#include <stdexcept>

#include "testing/faults.hpp"
#include "testing/pool_handle.hpp"
#include "testing/variants.hpp"

namespace scute::testing {
namespace {

class violation : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

scute::pool open(model::simulated_memory& m, const scute_options& o) {
  scute_pool* handle = nullptr;
  scute::detail::check(open_in(m, o, &handle));
  return scute::pool::adopt(handle);
}

// Lets go of the pool on every way out.
class opened {
 public:
  opened(model::simulated_memory& m, const scute_options& o) : pool(open(m, o)) {}
  ~opened() { abandon(pool.native_handle()); }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;

  scute::pool pool;
};

std::string shortened(const std::string& text) {
  constexpr size_t most = 2000;
  if (text.size() <= most) return text;
  return text.substr(0, most) + "... (" + std::to_string(text.size()) + " characters)";
}

}  // namespace

// Listens to a recovery and keeps the image that a crash before one of its fences leaves. The model says
// what is durable when it begins.
class judge::snapshot final : public model::memory_listener {
 public:
  // The image is written to `to`.
  snapshot(model::simulated_memory& m, const recrash& when, uint64_t seed,
           model::persistence_model& model, model::persistence_model::image& to)
      : image(to), memory_(m), when_(when), seed_(seed), model_(model) {}

  void streamed(uint64_t offset, size_t n, unsigned writer) override {
    model_.stream(offset, memory_.bytes().data() + offset, n, writer);
  }
  void stored(uint64_t offset, size_t n) override {
    model_.store(offset, memory_.bytes().data() + offset, n);
  }
  void flushed(uint64_t offset, size_t n, unsigned writer) override {
    // Recovery makes no store that it does not flush at once, so the lines hold all there is.
    const uint64_t begin = offset & ~uint64_t{63}, end = (offset + n + 63) & ~uint64_t{63};
    model_.found(begin, memory_.bytes().data() + begin, end - begin);
    model_.flush(offset, n, writer);
  }
  void fenced(unsigned writer) override {
    if (fences_++ == when_.fence) return take();
    model_.fence(writer);
  }
  void damaged(uint64_t offset, size_t n) override {
    model_.stream(offset, memory_.bytes().data() + offset, n, UINT16_MAX - 1);
    model_.fence(UINT16_MAX - 1);
  }
  // If recovery was over before the crash came.
  void finish() {
    if (!taken_) take();
    memory_.listener = nullptr;
  }

  model::persistence_model::image& image;
  uint64_t fences() const noexcept { return fences_; }

 private:
  void take() {
    const auto& atoms = model_.atoms();
    const variants all(model_, atoms, seed_);
    const auto durable = model_.durable();
    image.assign(durable.begin(), durable.end());
    model_.apply(all.make(when_.variant % all.count()), image);
    memory_.listener = nullptr;
    taken_ = true;
  }

  model::simulated_memory& memory_;
  recrash when_;
  uint64_t seed_;
  model::persistence_model& model_;
  uint64_t fences_ = 0;
  bool taken_ = false;
};

judge::judge(const detail::scenario_state& s, uint64_t size, bool eadr)
    : scenario_(s), memory_(size, eadr), spare_(eadr) {}
judge::~judge() = default;

void judge::base(std::span<const std::byte> durable) {
  base_ = durable;
  memory_.restore(base_, true);
}

verdict judge::run(const model::persistence_model& m, const crash_state& c, const expectation& e,
                   uint64_t& states) {
  verdict v;
  const fault& f = c.damage;
  memory_.restore(base_, thorough);
  m.apply(c.durable, memory_.bytes());
  m.for_each_chosen(c.durable, [&](uint64_t offset, size_t n) { memory_.touch(offset, n); });
  if (f.what == fault::kind::replica) {
    const injury i = injure_replica(memory_.bytes(), f.number);
    inflict(i);
    if (!i.bytes.empty()) v.log.push_back("damaged besides: " + i.text);
  }
  for (size_t level = 0;; ++level) {
    ++states;
    ++count_;
    if (level == c.again.size()) {
      recover(v, e, f, nullptr);
      return v;
    }
    if (level == 0 && c.killed) {
      spare_ = m;
      spare_.lose_processes();
    } else {
      spare_.reset(memory_.bytes());
    }
    snapshot snap(memory_, c.again[level], mix(c.seed, level), spare_, spare_image_);
    if (!recover(v, e, {fault::kind::none, f.number}, &snap)) return v;
    v.log.push_back(std::string("instead of that, the power failed") +
                    (level == 0 && c.killed ? "" : " again") + " at fence " +
                    std::to_string(snap.fences()) + " of this recovery");
    memory_.rewind(snap.image);
  }
}

void judge::inflict(const injury& i) {
  if (i.bytes.empty()) return;  // the image is of no pool yet
  std::memcpy(memory_.bytes().data() + i.offset, i.bytes.data(), i.bytes.size());
  memory_.touch(i.offset, i.bytes.size());
}

bool judge::recover(verdict& v, const expectation& e, const fault& f, snapshot* again) {
  try {
    prefer_lane(0);
    memory_.listener = again;
    std::unique_ptr<opened> o;
    try {
      o = std::make_unique<opened>(memory_, scenario_.options);
    } catch (const std::exception& error) {
      if (again != nullptr) again->finish();
      memory_.listener = nullptr;
      if (e.absent) {
        v.log.push_back(std::string("there is no pool yet: ") + error.what());
        return true;
      }
      throw violation(std::string("the pool cannot be opened: ") + error.what());
    }
    if (again != nullptr) again->finish();
    scute::pool& p = o->pool;
    v.log.push_back("recovery completed " + std::to_string(p.info().recovered) +
                    " decided transaction(s)");
    observe(e, p, "after recovery");
    check(p, e, f.what != fault::kind::none);
    if (f.what == fault::kind::page && scenario_.options.protection == SCUTE_PROTECT_MLPC) {
      const injury i = injure_page(memory_.bytes(), f.number);
      inflict(i);
      v.log.push_back("damaged after that: " + i.text);
      check(p, e, true);
      observe(e, p, "after the damage was repaired");
    }
    probe(p);
    if (thorough || count_ % 4 == 0) {
      observe(e, p, "after the probe");
      check(p, e, false);
    }
    if (thorough || count_ % 16 == 0) {
      p.close();
      o.reset();
      o = std::make_unique<opened>(memory_, scenario_.options);
      observe(e, o->pool, "after the pool was closed and opened again");
    }
    if ((thorough || count_ % 64 == 0) && memory_.strayed(base_))
      throw violation("bytes of the pool were changed without the medium knowing of it");
    return true;
  } catch (const std::exception& error) {
    memory_.listener = nullptr;
    v.sound = false;
    v.wrong = error.what();
    return false;
  }
}

void judge::observe(const expectation& e, scute::pool& p, const char* when) {
  for (size_t t = 0; t < scenario_.threads.size(); ++t) {
    if (!scenario_.threads[t].observe) continue;
    std::string seen;
    try {
      seen = scenario_.threads[t].observe(p);
    } catch (const std::exception& error) {
      throw violation(std::string(when) + ", the observer of thread " + std::to_string(t) +
                      " threw: " + error.what());
    }
    bool fits = false;
    for (const std::string* text : e.allowed[t]) fits = fits || *text == seen;
    if (fits) continue;
    std::string text = std::string(when) + ", thread " + std::to_string(t) + " reads\n      " +
                       shortened(seen) + "\n    allowed is";
    for (const std::string* one : e.allowed[t]) text += "\n      " + shortened(*one);
    throw violation(text);
  }
}

void judge::check(scute::pool& p, const expectation& e, bool injured) {
  std::string found;
  const auto note = [&](std::string_view what, uint64_t offset, uint64_t length, scute_oid,
                        bool repaired) {
    found += "\n      " + std::string(what) + " at " + std::to_string(offset) + "+" +
             std::to_string(length) + (repaired ? " (repaired)" : "");
  };
  if (e.damaged || injured) {
    const auto r = p.check(true, note, {});
    if (r.lost != 0 && scenario_.may_lose) return;  // each was reported just now
    if (r.lost != 0) throw violation("check finds losses beyond repair:" + found);
    found.clear();
  }
  const auto r = p.check(false, note, {});
  if (r.damaged != 0) throw violation("check finds the pool damaged:" + found);
}

// POOL-6, and the rest: what recovery leaves must be a pool that works.
void judge::probe(scute::pool& p) {
  try {
    if (scenario_.probe) return scenario_.probe(p);
    using scute::detail::check;
    constexpr size_t size = 40;
    scute_tx* tx = nullptr;
    scute_oid oid = SCUTE_OID_NULL;
    void* bytes = nullptr;
    check(scute_tx_begin(p.native_handle(), &tx));
    try {
      check(scute_tx_alloc(tx, size, 0, &oid, &bytes));
    } catch (...) {
      scute_tx_abort(tx);
      throw;
    }
    std::memset(bytes, 0x5a, size);
    check(scute_tx_commit(tx));
    const void* back = nullptr;
    check(scute_get_verified(p.native_handle(), oid, &back));
    for (size_t i = 0; i < size; ++i)
      if (static_cast<const unsigned char*>(back)[i] != 0x5a)
        throw violation("a new object does not hold what was written to it");
    check(scute_tx_begin(p.native_handle(), &tx));
    if (const int error = scute_tx_free(tx, oid); error != SCUTE_OK) {
      scute_tx_abort(tx);
      check(error);
    }
    check(scute_tx_commit(tx));
  } catch (const scute::error& error) {
    if (scenario_.may_run_full && error.which() == errc::nospc) return;
    throw violation(std::string("after recovery the probe failed: ") + error.what());
  }
}

}  // namespace scute::testing
