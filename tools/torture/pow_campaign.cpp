// SPDX-License-Identifier: BSD-3-Clause
#include "pow_campaign.hpp"

#include "actor.hpp"
#include "last_words.hpp"
#include "worker.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace scute_torture {

namespace {

namespace pow = scute::pow;
namespace fs = std::filesystem;

constexpr uint64_t keys = 61;
constexpr uint64_t page_size = 4096, segment_size = 72 * 1024, first_segment = 16384;

// Of threads, by number: all sections strict, strict or later by turns as it comes, all later.
enum class durability_mix { strict, both, later };
durability_mix durability_of(unsigned thread) {
  return thread % 3 == 2   ? durability_mix::later
         : thread % 3 == 1 ? durability_mix::both
                           : durability_mix::strict;
}

std::string text_of(uint64_t seed, unsigned thread, uint64_t n) {
  dice d(mix(mix(seed, thread), n));
  return std::string(1 + d.below(900), static_cast<char>('a' + d.below(26))) + std::to_string(n);
}
bool erases(uint64_t n) {
  return n % 5 == 0;
}

// The file as a program has it.
struct tables {
  struct own {
    own(pow::store& s, unsigned t)
        : entries(s, "entries " + std::to_string(t)), counter(s, "counter " + std::to_string(t)) {}
    pow::map<uint64_t, std::string> entries;
    pow::value<uint64_t> counter;
    std::mutex lock;
  };
  tables(pow::store& s, unsigned threads) : shares(s, "shares"), sum(s, "sum") {
    for (unsigned t = 0; t < threads; ++t) of.push_back(std::make_unique<own>(s, t));
  }
  std::vector<std::unique_ptr<own>> of;
  pow::map<uint64_t, uint64_t> shares;
  pow::value<uint64_t> sum;
  std::mutex lock;
};

}  // namespace

pow_campaign::pow_campaign(const settings& how, std::string folder)
    : how_(how),
      folder_(std::move(folder)),
      book_(ledger::make()),
      dice_(mix(how.seed, 0x706f77)),
      meter_(how.quiet) {}

void pow_campaign::check(const settings& how) {
  for (const char* const known : {"mlpc", "none", "sealed", "always"})  // mlpc: nothing was said
    if (how.protection == known) return;
  throw std::runtime_error("with --workload pow the protection is none, sealed or always, not " +
                           how.protection);
}

uint64_t pow_campaign::sections() const {
  uint64_t n = 0;
  for (const auto& page : book_.pages) n += page.confirmed;
  return n;
}

bool pow_campaign::over() const {
  if (stop_requested()) return true;
  if (how_.kills != 0 && tally_.kills >= how_.kills) return true;
  return how_.seconds != 0 && meter_.seconds() >= how_.seconds;
}

pow::options pow_campaign::options() const {
  pow::options o;
  o.size = 1 << 20;
  o.max_size = 8 << 20;
  o.segment_size = segment_size;
  o.protection = how_.protection == "none"     ? SCUTE_POW_NONE
                 : how_.protection == "sealed" ? SCUTE_POW_SEALED
                                               : SCUTE_POW_ALWAYS;
  if (how_.medium == "file") o.medium = SCUTE_MEDIUM_FILE;
  if (how_.medium == "ram") o.medium = SCUTE_MEDIUM_RAM;
  return o;
}

// In a process of its own.
void pow_campaign::work(uint64_t round) {
  book_.opening = true;
  pow::store db(path(), options());
  tables all(db, how_.threads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < how_.threads; ++t)
    threads.emplace_back([&, t] {
      try {
        ledger::page& page = book_.pages[t];
        tables::own& mine = *all.of[t];
        dice d(mix(how_.seed ^ round, t));
        const auto durability = [&] {
          const durability_mix w = durability_of(t);
          return w == durability_mix::later || (w == durability_mix::both && d.one_in(2))
                     ? pow::later
                     : pow::strict;
        };
        uint64_t n = *mine.counter;
        page.announced = page.confirmed = n;
        while (!book_.stop) {
          ++n;
          page.announced = n;
          const auto how = durability();
          {
            auto s = db.section(mine.lock, how);
            if (erases(n))
              mine.entries.erase(n % keys);
            else
              mine.entries.edit(n % keys) = text_of(how_.seed, t, n);
            if (d.one_in(20)) s.stream();
            mine.counter.edit() = n;
            if (d.one_in(50)) {
              --n;  // aborted: as if it had never been
              page.announced = n;
              continue;
            }
            s.commit();
          }
          // A strict section makes durable what its own thread has done before.
          if (how == pow::strict || d.one_in(20)) {
            if (how == pow::later) db.sync();
            page.confirmed = n;
          }
          if (!d.one_in(4)) continue;
          auto s = db.section(all.lock, durability());
          all.sum.edit() += 1;
          all.shares.edit(t) += 1;
          s.commit();
        }
      } catch (const std::exception& e) {
        book_.fail(e.what());
        ::_exit(3);
      }
    });
  book_.open = true;
  for (auto& t : threads) t.join();
  db.close();
  book_.closed = true;
}

// Starts a worker and ends it, most often while it works, else while it opens or closes the file.
void pow_campaign::round() {
  const uint64_t choice = dice_.below(10);
  const double slow = how_.medium == "file" ? 10 : 1;
  book_.opening = book_.open = book_.stop = book_.closed = false;
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGALRM, SIGINT, SIGTERM})
      std::signal(s, SIG_DFL);
    ::alarm(0);
    try {
      work(rounds_);
    } catch (const std::exception& e) {
      book_.fail(e.what());
      ::_exit(3);
    }
    ::_exit(0);
  }
  const auto& begun = choice < 2 ? book_.opening : book_.open;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!begun && std::chrono::steady_clock::now() < until && !book_.failed)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  const double wait_s = slow * (choice < 2 ? dice_.skewed(1e-6, 3e-3) : dice_.skewed(20e-6, 60e-3));
  std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
  if (choice == 9) {
    book_.stop = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(dice_.skewed(1e-6, 2e-3)));
  }
  const int status = end(pid);
  if (book_.failed) throw violation("the worker found: " + book_.story());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    ++tally_.closed;
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    ++tally_.kills;
  else
    throw violation(fmt::format("the worker was ended by status {:#x}", status));
}

// Pages that can be lost: one of each segment, or, with groups, of each group, of whatever member
// or the seal.
std::vector<uint64_t> pow_campaign::pages_to_lose(uint64_t size) {
  std::vector<uint64_t> pages;
  if (options().protection == SCUTE_POW_ALWAYS) {
    for (uint64_t at = first_segment; at + segment_size <= size; at += segment_size)
      pages.push_back(at / page_size + dice_.below(segment_size / page_size));
    return pages;
  }
  pow::options o = options();
  o.flags |= SCUTE_POW_READONLY;
  const pow::store db(path(), o);
  std::map<uint32_t, std::vector<uint64_t>> groups;
  scute::detail::check(scute_pow_list_segments(
      db.native_handle(),
      [](void* arg, const scute_pow_segment_info* s) {
        if (s->group != SCUTE_POW_NO_SEGMENT)
          (*static_cast<decltype(groups)*>(arg))[s->group].push_back(s->offset);
      },
      &groups));
  for (auto& [seal, offsets] : groups) {
    offsets.push_back(first_segment + seal * segment_size);
    pages.push_back(offsets[dice_.below(offsets.size())] / page_size +
                    dice_.below(segment_size / page_size));
  }
  return pages;
}

// And two of the head.
void pow_campaign::damage() {
  const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  std::vector<uint64_t> pages = pages_to_lose(static_cast<uint64_t>(::lseek(fd, 0, SEEK_END)));
  pages.insert(pages.end(), {0, 1});
  damaged_ = true;
  std::string noise(page_size, '\0');
  for (const uint64_t p : pages) {
    for (char& c : noise) c = static_cast<char>(dice_.below(256));
    tally_.pages_overwritten +=
        ::pwrite(fd, noise.data(), page_size, static_cast<off_t>(p * page_size)) ==
        static_cast<ssize_t>(page_size);
  }
  ::close(fd);
}

bool pow_campaign::spoil() {
  if (how_.drill.empty() || tally_.kills < 20) return false;
  if (sections() < confirmed_earlier_ + 50 || !fs::exists(earlier_path())) return false;
  fs::copy_file(earlier_path(), path(), fs::copy_options::overwrite_existing);
  return true;
}

void pow_campaign::verify() {
  pow::store db(path(), options());
  tables all(db, how_.threads);
  for (unsigned t = 0; t < how_.threads; ++t) {
    const ledger::page& page = book_.pages[t];
    const tables::own& mine = *all.of[t];
    const uint64_t n = *mine.counter;
    if (n < page.confirmed || n > page.announced)
      throw violation(fmt::format(
          "thread {}: the file has its sections up to {}, but {} were confirmed and {} begun", t, n,
          page.confirmed.load(), page.announced.load()));
    uint64_t expected = 0;
    for (uint64_t k = 0; k < keys; ++k) {
      const uint64_t last = n < k ? 0 : n - (n - k) % keys;  // the last section about this key
      const bool there = last != 0 && !erases(last);
      expected += there;
      if (there != mine.entries.contains(k))
        throw violation(fmt::format("thread {}, after section {}: entry {} is {}there", t, n, k,
                                    there ? "not " : ""));
      if (there && mine.entries.at(k) != text_of(how_.seed, t, last))
        throw violation(fmt::format("thread {}, after section {}: entry {} is not of section {}", t,
                                    n, k, last));
    }
    if (mine.entries.size() != expected)
      throw violation(
          fmt::format("thread {}: {} entries, not {}", t, mine.entries.size(), expected));
    tally_.records += expected;
  }
  uint64_t shares = 0;
  for (const auto& [thread, share] : all.shares) shares += share;
  if (shares != *all.sum)
    throw violation(fmt::format("the sum is {}, and its shares are {} together", *all.sum, shares));
  std::string found;
  // The opening has repaired what it met: a check may add nothing that the next damage would need.
  const bool repairs = std::exchange(damaged_, false) && dice_.one_in(2);
  const uint32_t repair = repairs ? SCUTE_POW_REPAIR : 0;
  const uint64_t lost = db.check(SCUTE_POW_COMPARE | repair, [&](const char* what, bool is_lost) {
    if (is_lost) found += std::string(what) + "; ";
  });
  if (lost != 0) throw violation("the check reports losses: " + found);
  const auto info = db.info();
  tally_.dropped += info.recovered_dropped;
  tally_.repaired += info.recovered_repaired;
  ++tally_.verified;
  if (dice_.one_in(8)) db.compact();
  tally_.cleaned += info.cleaned_segments;
}

void pow_campaign::run() {
  {
    pow::store(path(), options()).close();
  }
  const bool protects = options().protection != SCUTE_POW_NONE;
  bool drilled = how_.drill.empty();
  while (!over()) {
    watch(120);
    ++rounds_;
    meter_.show(how_.kills != 0
                    ? static_cast<double>(tally_.kills) / static_cast<double>(how_.kills)
                    : meter_.seconds() / how_.seconds,
                tally_.kills, sections());
    round();
    if (!drilled && spoil()) {
      drilled = true;
      verify();  // before any worker continues from there, and confirms less than was confirmed
    } else if (!drilled && confirmed_earlier_ == 0 && tally_.kills > 3) {
      fs::copy_file(path(), earlier_path(), fs::copy_options::overwrite_existing);
      confirmed_earlier_ = sections() + 1;
    }
    // Recovery may meet the state that a killed recovery left.
    if (dice_.one_in(3) && drilled) continue;
    if (protects && dice_.one_in(4)) damage();
    verify();
  }
  watch(120);
  verify();
  watch(0);
  meter_.clear();
}

int run_pow(const settings& how, const std::string& folder, bool& keep) {
  pow_campaign c(how, folder);
  const std::string kept =
      fmt::format("  {:<22} {}\n  {:<22} {}\n", "the file", c.path(), "repeat", how.command());
  set_last_words(kept);
  catch_signals();
  fmt::print("{}, seed {}\n", c.path(), how.seed);
  std::fflush(stdout);
  std::string failure;
  try {
    c.run();
  } catch (const violation& e) {
    failure = e.what();
  } catch (const scute::error& e) {
    failure = fmt::format("the verification failed: {}", e.what());
  }
  watch(0);
  const pow_tally& t = c.result();
  const auto row = [](const char* name, const std::string& value) {
    fmt::print("  {:<22} {}\n", name, value);
  };
  row("kills", fmt::format("{} ({:.1f}/s)", t.kills, static_cast<double>(t.kills) / c.seconds()));
  row("closed before the kill", fmt::format("{}", t.closed));
  row("committed", fmt::format("{} sections", c.sections()));
  row("verified", fmt::format("{} times, {} entries", t.verified, t.records));
  row("cut short", fmt::format("{} frames dropped", t.dropped));
  row("pages overwritten", fmt::format("{}; {} places repaired", t.pages_overwritten, t.repaired));
  row("repeat", how.command());
  if (failure.empty()) {
    fmt::print("result: nothing is lost, nothing is half done, nothing is damaged\n");
    return 0;
  }
  keep = true;
  fmt::print("FAILED: {}\n{}", failure, kept);
  return 1;
}

}  // namespace scute_torture
