// SPDX-License-Identifier: BSD-3-Clause
#include "log_campaign.hpp"

#include "check_call.hpp"
#include "dice.hpp"
#include "file_bytes.hpp"
#include "log_worker.hpp"
#include "progress_line.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

namespace scute_campaign {

using namespace scute_tools;

namespace {

constexpr uint64_t page = 4096, pool_size = 8u << 20, segment = 128u << 10;
constexpr uint64_t item_min = 48,
                   item_max = 3900;  // one fragment, one checksum (docs/reference/format.md)
constexpr size_t items = 40, failures_max = 5;
constexpr uint32_t lanes = 2;

// The results of the trials of one kind and moment.
struct tally {
  uint64_t trials = 0, transactions = 0, injuries = 0, intact = 0;
  uint64_t objects = 0, older = 0, refused = 0, unchecked = 0;
  uint64_t reported = 0, had_to_report = 0, unfounded = 0, refused_opens = 0, failures = 0;
};

class log_trials {
 public:
  log_trials(const log_settings& how, log_kind kind, moment when)
      : how_(how),
        kind_(kind),
        when_(when),
        pool_(how.folder + "/log.pool"),
        log_(kind == log_kind::tracks ? pool_ : pool_ + ".log") {
    make();
  }
  ~log_trials() { clear(); }
  log_trials(const log_trials&) = delete;
  log_trials& operator=(const log_trials&) = delete;

  // The broken promise; empty: all well.
  std::string trial(unsigned number) {
    dice random(mix(mix(how_.seed, number),
                    mix(static_cast<uint64_t>(kind_), static_cast<uint64_t>(when_))));
    clear();
    store(pool_, master_);
    if (kind_ != log_kind::tracks) store(log_, master_log_);
    log_model model(how_.seed, items);
    ++sum_.trials;
    try {
      std::string wrong = when_ == moment::rest   ? at_rest(model, random)
                          : when_ == moment::live ? live(model, random)
                                                  : crossing(model, random);
      sum_.transactions += model.transactions();
      if (wrong.empty()) return wrong;
      ++sum_.failures;
      return injured_ + ": " + wrong;
    } catch (const std::exception& e) {
      ++sum_.failures;
      return injured_ + ": " + e.what();
    }
  }
  const tally& sum() const noexcept { return sum_; }

 private:
  void clear() const {
    std::error_code ignored;
    for (const char* more : {"", ".log", ".log.foreign", ".log.coming"})
      std::filesystem::remove(pool_ + more, ignored);
  }

  void make() {
    clear();
    scute_options o;
    scute_options_init(&o);
    o.size = pool_size;
    o.engine = SCUTE_ENGINE_SPEC;
    o.protection = kind_ == log_kind::one_copy ? SCUTE_PROTECT_NONE : SCUTE_PROTECT_MLPC;
    o.medium = kind_ == log_kind::tracks ? SCUTE_MEDIUM_RAM : SCUTE_MEDIUM_FILE;
    o.rows = 4;
    o.lanes = lanes;
    o.chunk_size = segment;
    o.log_cap = kind_ == log_kind::tracks ? 10 * segment : 3 * segment;
    scute_pool* pool = nullptr;
    need(scute_create(pool_.c_str(), &o, &pool));
    dice random(how_.seed);
    const log_model model(how_.seed, items);
    for (size_t i = 0; i < items; ++i) {
      const uint64_t size = random.size(item_min, item_max);
      scute_tx* tx = nullptr;
      void* to = nullptr;
      need(scute_tx_begin(pool, &tx));
      need(scute_tx_alloc(tx, size, 1, &oids_.emplace_back(), &to));
      model.fill(static_cast<std::byte*>(to), i, 0, size);
      need(scute_tx_commit(tx));
    }
    if (kind_ == log_kind::tracks)
      need(scute_visit_chunks(
          pool,
          [](void* arg, const scute_chunk_info* c) {
            if (std::string_view(c->kind) == "log")
              static_cast<std::vector<uint64_t>*>(arg)->push_back(c->offset);
            return 0;
          },
          &chunks_));
    need(scute_close(pool));
    master_ = contents(pool_);
    if (kind_ != log_kind::tracks) master_log_ = contents(log_);
  }

  // Of some transactions now and then one that overwrites everything, in more frames than one
  // segment holds.
  static void plan(log_model& model, dice& random, uint64_t transactions) {
    for (; transactions != 0; --transactions) {
      std::vector<size_t> objects;
      for (uint64_t n = random.one_in(40) ? items : 1 + random.below(3); n != 0; --n)
        objects.push_back(n > 3 ? n - 1 : random.below(items));
      model.add(std::move(objects));
    }
  }

  // ---- damage -----------------------------------------------------------------------------------

  // Of some kinds, anywhere in these ranges, or where something counts. Returns what the file is
  // then.
  bytes injured(const bytes& before, dice& random, const log_picture& picture,
                const std::vector<log_range>& where, bool anywhere) {
    bytes after = before;
    const auto inside = [&](uint64_t at) {
      return std::ranges::any_of(
          where, [&](const log_range& r) { return at >= r.offset && at - r.offset < r.length; });
    };
    const auto place = [&] {
      for (int k = 0; k < 50; ++k) {
        const uint64_t at = picture.line_of_frame(random.word(), random.word());
        if (random.one_in(4) || !inside(at)) break;
        return at + random.below(64);
      }
      const log_range& r = where[random.below(where.size())];
      return r.offset + random.below(r.length);
    };
    const uint64_t kind = random.below(anywhere ? 5 : 3);
    const auto noise = [&](uint64_t at, uint64_t n) { fill(&after[at], random.word(), n); };
    if (kind == 3) {
      for (const log_range& r : where) noise(r.offset, r.length);
      injured_ = "all of it is noise";
    } else if (kind == 4 && kind_ != log_kind::tracks) {
      noise(0, 2 * page);
      injured_ = "both heads are noise";
    } else if (kind == 0) {
      const uint64_t n = random.size(1, 400);
      for (uint64_t k = 0; k < n; ++k) after[place()] ^= std::byte{1} << random.below(8);
      injured_ = fmt::format("{} bits are flipped", n);
    } else {
      const uint64_t n = 1 + random.below(4);
      const bool zeros = kind == 2;
      for (uint64_t k = 0; k < n; ++k) {
        const uint64_t at = place() / page * page;
        if (zeros)
          std::fill_n(after.begin() + static_cast<long>(at), page, std::byte{});
        else
          noise(at, page);
      }
      injured_ = fmt::format("{} pages are {}", n, zeros ? "zeros" : "noise");
    }
    ++sum_.injuries;
    return after;
  }

  // Writes the bytes that differ, while another process has the file open.
  void put(const bytes& before, const bytes& after) const {
    const int fd = open(log_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), log_);
    bool done = true;
    for (size_t at = 0; at < after.size(); at += 64) {
      const size_t n = std::min<size_t>(64, after.size() - at);
      if (std::equal(&after[at], &after[at] + n, &before[at])) continue;
      done = done && pwrite(fd, &after[at], n, static_cast<off_t>(at)) == static_cast<ssize_t>(n);
    }
    ::close(fd);
    if (!done) throw std::runtime_error("cannot write " + log_);
  }

  // ---- moments ----------------------------------------------------------------------------------

  std::string at_rest(log_model& model, dice& random) {
    plan(model, random, 1 + random.size(1, 300));
    uint64_t done = work(model, 0, true);
    const bytes before = contents(log_);
    const log_picture picture(before, kind_, chunks_);
    bytes after = injured(before, random, picture, picture.all(), true);
    if (kind_ != log_kind::tracks && random.one_in(8)) {
      after.resize(random.below(after.size()));
      injured_ += ", and it is cut short";
    }
    store(log_, after);
    plan(model, random, 1 + random.size(1, 300));
    log_picture::prospects p;
    // Noise over a segment without use is reported as its loss after a kill
    // (docs/guides/recover.md).
    p.quiet = !random.one_in(2);
    if (!p.quiet) done = work(model, done, false);
    return read(model, done, p, false);
  }

  std::string live(log_model& model, dice& random) {
    plan(model, random, 200);
    log_worker worker(pool_, model, oids_, 0);
    uint64_t upto = 0;
    for (int round = 0; round < 3; ++round) {
      worker.wait(upto += 1 + random.below(25));
      worker.let(upto += 1 + random.below(15));  // during which the damage comes
      const bytes before = contents(log_);
      const log_picture picture(before, kind_, chunks_);
      put(before, injured(before, random, picture, picture.all(), true));
      worker.wait(upto);
      worker.repair();
    }
    worker.wait(upto + 1 + random.below(60));
    return read(model, worker.kill(), {}, false);
  }

  std::string crossing(log_model& model, dice& random) {
    plan(model, random, 400);
    uint64_t done = 0;
    {
      log_worker worker(pool_, model, oids_, 0);
      const uint64_t upto = random.size(1, 300);
      if (random.one_in(3)) {
        worker.wait(upto / 2);
        worker.drain();
      }
      worker.let(model.transactions());
      worker.wait(upto);
      done = worker.kill();
    }
    const bytes before = contents(log_);
    const log_picture picture(before, kind_, chunks_);
    const bool anywhere = random.one_in(2);
    const bytes after =
        injured(before, random, picture,
                anywhere ? picture.all()
                         : picture.part(static_cast<unsigned>(random.below(picture.parts()))),
                anywhere);
    put(before, after);
    const log_picture::prospects p = picture.predict(after, lanes);
    sum_.intact += p.intact ? 1 : 0;
    sum_.had_to_report += p.reported ? 1 : 0;
    if (!p.reported && random.one_in(3)) open_and_die(random);
    return read(model, done, p, how_.spoil == drill::greedy);
  }

  // A session after `done` transactions, which makes all the planned ones. Killed, or closed.
  uint64_t work(const log_model& model, uint64_t done, bool close) const {
    log_worker worker(pool_, model, oids_, done);
    worker.wait(model.transactions());
    if (close) worker.close();
    return worker.kill();
  }

  void open_and_die(dice& random) const {
    const auto patience = static_cast<useconds_t>(random.size(20, 20'000));
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      scute_pool* pool = nullptr;
      scute_open(pool_.c_str(), nullptr, &pool);
      for (;;) pause();
    }
    usleep(patience);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  // ---- the state afterwards ---------------------------------------------------------------------

  // strict: everything has to be there, and nothing reported as lost, whatever the prospects are.
  std::string read(const log_model& model, uint64_t done, log_picture::prospects p, bool strict) {
    if (strict) p = {};
    scute_pool* pool = nullptr;
    const int code = scute_open(pool_.c_str(), nullptr, &pool);
    if (code != SCUTE_OK) {
      ++sum_.refused_opens;
      const bool may = !p.opens && (code == SCUTE_E_CORRUPT || code == SCUTE_E_TRUNCATED);
      return may ? "" : fmt::format("opening: {}: {}", scute_errorname(code), scute_errormsg());
    }
    std::string wrong = predict(pool, model, done, p);
    scute_report r = sized<scute_report>();
    const int checked = scute_check(pool, 1, &r, nullptr, nullptr, nullptr);
    if (checked != SCUTE_OK && wrong.empty())
      wrong = fmt::format("the check: {}", scute_errormsg());
    if (r.lost != 0 && p.intact && wrong.empty())
      wrong = fmt::format("the check finds {} losses", r.lost);
    if (scute_close(pool) != SCUTE_OK && wrong.empty())
      wrong = fmt::format("closing: {}", scute_errormsg());
    if (!wrong.empty()) return wrong;
    // And again: reported once.
    need(scute_open(pool_.c_str(), nullptr, &pool));
    if (lost(pool) != 0) wrong = "it is reported twice";
    scute_close(pool);
    return wrong;
  }

  static uint64_t lost(scute_pool* pool) {
    scute_info info = sized<scute_info>();
    need(scute_pool_info(pool, &info));
    return info.lost;
  }

  // A place in the log that an event of this session names as lost.
  bool names_a_place(scute_pool* pool) const {
    struct search {
      const log_trials& of;
      bool found = false;
    } s{*this};
    need(scute_events(
        pool,
        [](void* arg, const scute_event* e) {
          auto& to = *static_cast<search*>(arg);
          to.found = to.found || (e->kind == SCUTE_EVENT_LOG && e->outcome == SCUTE_OUTCOME_LOST &&
                                  e->offset != 0 && e->length != 0);
        },
        &s));
    return s.found;
  }

  std::string predict(scute_pool* pool, const log_model& model, uint64_t done,
                      const log_picture::prospects& p) {
    const uint64_t losses = lost(pool);
    if (losses != 0) {
      ++sum_.reported;
      if (p.quiet && when_ != moment::crossing)
        return fmt::format("opening reports {} losses, and nothing is missing", losses);
      // Next to records that a kill tears that may be, and costs nothing.
      sum_.unfounded += p.quiet ? 1 : 0;
      if (!names_a_place(pool)) return "a loss is reported, and no place named";
    } else if (p.reported) {
      return "records are missing from the middle of the log, and that is not reported";
    }
    const bool checksums = kind_ != log_kind::one_copy;
    bool last_there = false, last_missing = false;  // of the transaction that was under way
    for (size_t i = 0; i < items; ++i) {
      ++sum_.objects;
      const void* at = nullptr;
      uint64_t size = 0;
      if (scute_get_verified(pool, oids_[i], &at) != SCUTE_OK ||
          scute_object_info(pool, oids_[i], &size, nullptr, nullptr) != SCUTE_OK) {
        ++sum_.refused;
        if (p.intact) return fmt::format("object {} is refused: {}", i, scute_errormsg());
        continue;
      }
      uint64_t is = model.version_of(i, {static_cast<const std::byte*>(at), size});
      if (how_.spoil == drill::silent && i == 0) is = UINT64_MAX;
      const uint64_t want = model.version(i, done), next = model.version(i, done + 1);
      if (next != want) (is == next ? last_there : last_missing) = true;
      if (is == want || is == next) continue;
      if (is < want) {
        ++sum_.older;
        if (p.intact)
          return fmt::format("object {} is as transaction {} had left it, not {}", i, is, want);
      } else if (checksums || p.intact) {
        return fmt::format("object {} reads wrong bytes without an error", i);
      } else {
        ++sum_.unchecked;
      }
    }
    if (p.intact && last_there && last_missing) return "half of a transaction has happened";
    return "";
  }

  const log_settings& how_;
  const log_kind kind_;
  const moment when_;
  const std::string pool_, log_;  // the file that has the log
  bytes master_, master_log_;
  std::vector<scute_oid> oids_;
  std::vector<uint64_t> chunks_;  // of a log inside
  std::string injured_ = "nothing is injured";
  tally sum_;
};

void print(const tally& t, const std::string& name) {
  fmt::print(
      "{:<20} {} trials, {} transactions, {} injuries; {} objects read, {} older, {} refused", name,
      t.trials, t.transactions, t.injuries, t.objects, t.older, t.refused);
  if (t.unchecked != 0) fmt::print(", {} unchecked", t.unchecked);
  if (t.intact + t.reported + t.refused_opens != 0)
    fmt::print(
        "; {} within the redundancy, {} reported as lost ({} rightly, {} wrongly), {} not "
        "opened",
        t.intact, t.reported, t.had_to_report, t.unfounded, t.refused_opens);
  fmt::print("; {} failed\n", t.failures);
}

}  // namespace

bool run_log_campaign(const log_settings& how) {
  progress_line line(how.quiet);
  uint64_t failures = 0;
  for (const log_kind kind : how.kinds)
    for (const moment when : how.moments) {
      const std::string name = fmt::format("{}/{}", log_kind_names[static_cast<size_t>(kind)],
                                           moment_names[static_cast<size_t>(when)]);
      log_trials all(how, kind, when);
      const unsigned first = how.trial >= 0 ? static_cast<unsigned>(how.trial) : 0;
      const unsigned last = how.trial >= 0 ? first + 1 : how.trials;
      for (unsigned k = first; k < last; ++k) {
        line.show(static_cast<double>(k - first) / (last - first),
                  fmt::format("{}, trial {}", name, k));
        const std::string wrong = all.trial(k);
        if (wrong.empty()) continue;
        if (++failures > failures_max) continue;
        line.clear();
        fmt::print(
            "FAILED {}, trial {}: {}\n  repeat: ./dev explore --campaign log --logs {} --moments "
            "{} "
            "--seed {} --trial {}\n",
            name, k, wrong, log_kind_names[static_cast<size_t>(kind)],
            moment_names[static_cast<size_t>(when)], how.seed, k);
      }
      line.clear();
      print(all.sum(), name);
      std::fflush(stdout);
    }
  return failures == 0;
}

}  // namespace scute_campaign
