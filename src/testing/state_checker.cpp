// SPDX-License-Identifier: BSD-3-Clause
#include "testing/state_checker.hpp"

#include <cstring>
#include <stdexcept>

#include "base/rounding.hpp"
#include "testing/variants.hpp"

namespace scute::testing {
using namespace core;
namespace {

class violation : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A subject that may be open; abandons it on every way out.
class opening {
 public:
  opening(subject& s, model::simulated_memory& m) : subject_(s), place_(m) {}
  ~opening() {
    if (open_) subject_.abandon();
  }
  opening(const opening&) = delete;
  opening& operator=(const opening&) = delete;

  void open() {
    subject_.open(place_);
    open_ = true;
  }
  void close() {
    subject_.close();
    open_ = false;
  }

 private:
  subject& subject_;
  memory place_;
  bool open_ = false;
};

std::string list_of(const findings& f) {
  std::string all;
  for (const std::string& text : f.texts) all += "\n      " + text;
  return all;
}

std::string shortened(const std::string& text) {
  constexpr size_t most = 2000;
  if (text.size() <= most) return text;
  return text.substr(0, most) + "... (" + std::to_string(text.size()) + " characters)";
}

}  // namespace

// Listens to a recovery and keeps the image that a crash before one of its fences leaves. The model
// says what is durable when it begins.
class state_checker::snapshot final : public model::memory_listener {
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
    // Recovery flushes each store at once, so the lines hold all of its stores.
    const uint64_t begin = round_down(offset, 64), end = round_up(offset + n, 64);
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
  // For the case that recovery ended before the crash.
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

state_checker::state_checker(const detail::scenario_state& s, subject& what, bool eadr)
    : scenario_(s), subject_(what), noun_(what.noun()), memory_(what.size(), eadr), spare_(eadr) {}
state_checker::~state_checker() = default;

void state_checker::base(std::span<const std::byte> durable) {
  base_ = durable;
  memory_.restore(base_, true);
}

check_result state_checker::run(const model::persistence_model& m, const crash_state& c,
                                const expectation& e, uint64_t& states) {
  check_result v;
  const fault& f = c.damage;
  memory_.restore(base_, thorough);
  m.apply(c.durable, memory_.bytes());
  m.for_each_chosen(c.durable, [&](uint64_t offset, size_t n) { memory_.touch(offset, n); });
  if (f.what == fault::kind::before_recovery) {
    const injury i = subject_.injure(fault_moment::before_recovery, memory_.bytes(), f.number);
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

void state_checker::inflict(const injury& i) {
  if (i.bytes.empty()) return;
  const auto all = memory_.bytes();
  if (i.offset > all.size() || i.bytes.size() > all.size() - i.offset)
    throw std::out_of_range("injury beyond the end of the " + noun_);
  std::memcpy(all.data() + i.offset, i.bytes.data(), i.bytes.size());
  memory_.touch(i.offset, i.bytes.size());
}

bool state_checker::recover(check_result& v, const expectation& e, const fault& f,
                            snapshot* again) {
  try {
    subject_.act_as(0);
    memory_.listener = again;
    opening o(subject_, memory_);
    try {
      o.open();
    } catch (const std::exception& error) {
      if (again != nullptr) again->finish();
      memory_.listener = nullptr;
      if (e.absent) {
        v.log.push_back("there is no " + noun_ + " yet: " + error.what());
        return true;
      }
      throw violation("the " + noun_ + " cannot be opened: " + error.what());
    }
    if (again != nullptr) again->finish();
    if (std::string done = subject_.recovered(); !done.empty()) v.log.push_back(std::move(done));
    observe(e, "after recovery");
    check(e, f.what != fault::kind::none);
    if (f.what == fault::kind::after_recovery) {
      const injury i = subject_.injure(fault_moment::after_recovery, memory_.bytes(), f.number);
      inflict(i);
      if (!i.bytes.empty()) {
        v.log.push_back("damaged after that: " + i.text);
        check(e, true);
        observe(e, "after the damage was repaired");
      }
    }
    probe();
    if (thorough || count_ % 4 == 0) {
      observe(e, "after the probe");
      check(e, false);
    }
    if (thorough || count_ % 16 == 0) {
      o.close();
      o.open();
      observe(e, "after the " + noun_ + " was closed and opened again");
    }
    if ((thorough || count_ % 64 == 0) && memory_.strayed(base_))
      throw violation("bytes of the " + noun_ + " were changed without the medium knowing of it");
    return true;
  } catch (const std::exception& error) {
    memory_.listener = nullptr;
    v.sound = false;
    v.wrong = error.what();
    return false;
  }
}

void state_checker::observe(const expectation& e, const std::string& when) {
  for (size_t t = 0; t < scenario_.threads.size(); ++t) {
    if (!scenario_.threads[t].observe) continue;
    std::string seen;
    try {
      seen = scenario_.threads[t].observe(subject_);
    } catch (const std::exception& error) {
      throw violation(when + ", the observer of thread " + std::to_string(t) +
                      " threw: " + error.what());
    }
    bool fits = false;
    for (const std::string* text : e.allowed[t]) fits = fits || *text == seen;
    if (fits) continue;
    std::string text = when + ", thread " + std::to_string(t) + " reads\n      " + shortened(seen) +
                       "\n    allowed is";
    for (const std::string* one : e.allowed[t]) text += "\n      " + shortened(*one);
    throw violation(text);
  }
}

void state_checker::check(const expectation& e, bool injured) {
  if (e.damaged || injured) {
    const findings repaired = subject_.check(true);
    if (repaired.lost != 0 && scenario_.may_lose) return;  // each was reported just now
    if (repaired.lost != 0)
      throw violation("check finds losses beyond repair:" + list_of(repaired));
  }
  const findings found = subject_.check(false);
  if (found.damaged != 0)
    throw violation("check finds the " + noun_ + " damaged:" + list_of(found));
}

void state_checker::probe() {
  try {
    if (scenario_.probe)
      scenario_.probe(subject_);
    else
      subject_.probe();
  } catch (const std::exception& error) {
    if (scenario_.may_run_full && subject_.ran_full(error)) return;
    throw violation(std::string("after recovery the probe failed: ") + error.what());
  }
}

}  // namespace scute::testing
