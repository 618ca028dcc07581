// SPDX-License-Identifier: BSD-3-Clause
#include "crossing_campaign.hpp"

#include "check_call.hpp"
#include "dice.hpp"
#include "progress_line.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace scute_campaign {

using namespace scute_tools;

namespace {

constexpr uint64_t item_min = 32, item_max = uint64_t{200} << 10;
constexpr uint64_t scribble_min = uint64_t{32} << 10, scribble_max = uint64_t{256} << 10;
constexpr size_t failures_max = 5;

struct item {
  scute_oid oid = SCUTE_OID_NULL;
  std::vector<std::byte> bytes;
};

struct damage {
  uint64_t offset, length;
  std::string text;
};

class crossings {
 public:
  explicit crossings(const crossing_settings& how)
      : how_(how), path_(how.folder + "/crossing.pool") {
    make();
  }
  ~crossings() { unlink(path_.c_str()); }
  crossings(const crossings&) = delete;
  crossings& operator=(const crossings&) = delete;

  // The broken promise; empty: all well.
  std::string trial(unsigned number) {
    dice random(mix(how_.seed, number));
    std::vector<item> model = items_;
    write(master_);
    exposed_ = how_.engine == SCUTE_ENGINE_SPEC && random.one_in(2);
    work(model, random, random.one_in(3) ? 0 : 1 + random.below(60));
    const damage d = draw(random);
    injure(d, random);
    ++trials_;
    for (uint64_t k = random.below(3); k != 0; --k) read_and_die(model, random);
    const std::string wrong = read(model, random);
    return wrong.empty() ? wrong : d.text + ": " + wrong;
  }

  uint64_t trials_ = 0, objects_ = 0, transactions_ = 0;
  uint64_t exposed_trials_ = 0, refused_ = 0;  // and objects that these refused

 private:
  // Objects of all sizes in most of the pool, with gaps between them.
  void make() {
    scute_options o;
    scute_options_init(&o);
    o.size = how_.size;
    o.engine = how_.engine;
    o.protection = SCUTE_PROTECT_MLPC;
    o.parity = how_.parity;
    o.rows = how_.rows;
    o.chunk_size = how_.chunk_size;
    scute_pool* pool = nullptr;
    need(scute_create(path_.c_str(), &o, &pool));
    dice random(how_.seed);
    for (uint64_t used = 0; used < how_.size / 2; used += items_.back().bytes.size()) {
      items_.push_back({0, std::vector<std::byte>(random.size(item_min, item_max))});
      item& i = items_.back();
      fill(i.bytes.data(), random.word(), i.bytes.size());
      try {
        transact(pool, [&](scute_tx* tx) {
          void* to = nullptr;
          need(scute_tx_alloc(tx, i.bytes.size(), 1, &i.oid, &to));
          std::memcpy(to, i.bytes.data(), i.bytes.size());
        });
      } catch (const call_failed& e) {
        if (e.code != SCUTE_E_NOSPC) throw;
        items_.pop_back();
        break;
      }
    }
    std::erase_if(items_, [&](const item& i) {
      if (!random.one_in(6)) return false;
      transact(pool, [&](scute_tx* tx) { need(scute_tx_free(tx, i.oid)); });
      return true;
    });
    scute_info info = sized<scute_info>();
    need(scute_pool_info(pool, &info));
    row_size_ = info.row_size;
    need(scute_offset_of(pool, 0, 0, 0, &zone_));
    need(scute_close(pool));
    std::ifstream in(path_, std::ios::binary);
    master_.resize(how_.size);
    in.read(reinterpret_cast<char*>(master_.data()), static_cast<std::streamsize>(how_.size));
    if (!in) throw std::runtime_error("cannot read " + path_);
  }

  void write(const std::vector<std::byte>& bytes) const {
    std::ofstream out(path_, std::ios::binary | std::ios::in | std::ios::out);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path_);
  }

  template <typename Body>
  static void transact(scute_pool* pool, Body&& body) {
    scute_tx* tx = nullptr;
    need(scute_tx_begin(pool, &tx));
    try {
      body(tx);
    } catch (...) {
      scute_tx_abort(tx);
      throw;
    }
    need(scute_tx_commit(tx));
  }

  // Ranges of up to three objects each. The model is changed here, the pool by a process that is
  // killed when all of it is done and durable.
  void work(std::vector<item>& model, dice& random, uint64_t transactions) {
    struct edit {
      size_t index;
      uint64_t at, length;
    };
    std::vector<std::vector<edit>> plan(transactions);
    for (auto& t : plan) {
      for (uint64_t k = 1 + random.below(3); k != 0; --k) {
        const size_t index = random.below(model.size());
        const uint64_t size = model[index].bytes.size();
        const uint64_t length = std::min(random.size(1, 9000), size);
        t.push_back({index, random.below(size - length + 1), length});
        fill(model[index].bytes.data() + t.back().at, random.word(), length);
      }
    }
    transactions_ += transactions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      close(ends[0]);
      try {
        scute_pool* pool = nullptr;
        need(scute_open(path_.c_str(), nullptr, &pool));
        // An object that comes twice gets its last bytes by both.
        for (const auto& t : plan)
          transact(pool, [&](scute_tx* tx) {
            for (const edit& e : t) {
              void* to = nullptr;
              need(scute_tx_add_range(tx, model[e.index].oid, e.at, e.length, &to));
              std::memcpy(to, model[e.index].bytes.data() + e.at, e.length);
            }
          });
        if (!exposed_) need(scute_drain(pool));
      } catch (const std::exception& e) {
        fmt::print(stderr, "scute-campaign: {}\n", e.what());
        _exit(1);
      }
      if (::write(ends[1], "", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char done = 0;
    const bool ready = ::read(ends[0], &done, 1) == 1;
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    if (!ready) throw std::runtime_error("the process that works on the pool gave up");
  }

  damage draw(dice& random) const {
    const uint64_t all = (how_.rows + how_.parity) * row_size_;
    if (random.one_in(2)) {
      const uint64_t row = random.below(how_.rows + how_.parity);
      return {zone_ + row * row_size_, row_size_, fmt::format("row {} is noise", row)};
    }
    const uint64_t length = std::min(random.size(scribble_min, scribble_max), row_size_);
    const uint64_t at = random.below(all - length);
    return {zone_ + at, length, fmt::format("noise at {:#x}, {} bytes", zone_ + at, length)};
  }

  void injure(const damage& d, dice& random) const {
    std::vector<std::byte> noise(d.length);
    fill(noise.data(), random.word(), noise.size());
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(d.offset));
    file.write(reinterpret_cast<const char*>(noise.data()),
               static_cast<std::streamsize>(noise.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path_);
  }

  // A process that opens the pool and reads, and is killed while it does, or while it recovers.
  void read_and_die(const std::vector<item>& model, dice& random) const {
    const uint64_t first = random.below(model.size());
    const auto patience = static_cast<useconds_t>(random.size(20, 20'000));
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      scute_pool* pool = nullptr;
      if (scute_open(path_.c_str(), nullptr, &pool) != SCUTE_OK) _exit(1);
      for (size_t k = 0; k < model.size(); ++k) {
        const void* at = nullptr;
        scute_get_verified(pool, model[(first + 7 * k) % model.size()].oid, &at);
      }
      for (;;) pause();
    }
    usleep(patience);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  // Some trials read with two threads.
  std::string read(const std::vector<item>& model, dice& random) {
    scute_pool* pool = nullptr;
    need(scute_open(path_.c_str(), nullptr, &pool));
    std::vector<size_t> order(model.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> lost{0}, wrong{0};
    const auto reader = [&] {
      for (size_t k = next++; k < order.size(); k = next++) {
        const item& i = model[order[k]];
        const void* at = nullptr;
        if (scute_get_verified(pool, i.oid, &at) != SCUTE_OK)
          ++lost;
        else if (std::memcmp(at, i.bytes.data(), i.bytes.size()) != 0 ||
                 (how_.spoil == drill::silent && k == 0))
          ++wrong;
      }
    };
    if (random.one_in(2)) {
      std::thread other(reader);
      reader();
      other.join();
    } else {
      reader();
    }
    objects_ += model.size();
    scute_report r = sized<scute_report>();
    const int code = scute_check(pool, 1, &r, nullptr, nullptr, nullptr);
    scute_close(pool);
    std::string text;
    if (exposed_) {
      ++exposed_trials_;
      refused_ += lost;
    }
    if (lost != 0 && !exposed_)
      text += fmt::format("{} of {} objects are lost; ", lost.load(), model.size());
    if (wrong != 0) text += fmt::format("{} read wrong bytes without an error; ", wrong.load());
    if (code != SCUTE_OK)
      text += fmt::format("the check failed: {}; ", scute_errorname(code));
    else if (r.lost != 0 && !exposed_)
      text += fmt::format("the check finds {} losses; ", r.lost);
    if (!text.empty()) text.resize(text.size() - 2);
    return text;
  }

  const crossing_settings& how_;
  const std::string path_;
  bool exposed_ = false;  // this trial's log has records that nothing has checkpointed
  std::vector<item> items_;
  std::vector<std::byte> master_;
  uint64_t row_size_ = 0, zone_ = 0;
};

}  // namespace

bool run_crossings(const crossing_settings& how) {
  crossings all(how);
  progress_line line(how.quiet);
  const unsigned first = how.trial >= 0 ? static_cast<unsigned>(how.trial) : 0;
  const unsigned last = how.trial >= 0 ? first + 1 : how.trials;
  size_t failures = 0;
  for (unsigned k = first; k < last; ++k) {
    line.show(static_cast<double>(k - first) / (last - first), fmt::format("trial {}", k));
    const std::string wrong = all.trial(k);
    if (wrong.empty()) continue;
    if (++failures > failures_max) continue;
    line.clear();
    fmt::print(
        "FAILED trial {}: {}\n  repeat: scute-campaign crossing{} --parity {} --rows {} --size {} "
        "--seed {} --chunk-size {} --trial {}\n",
        k, wrong, how.engine == SCUTE_ENGINE_SPEC ? " --engine spec" : "", how.parity, how.rows,
        how.size, how.seed, how.chunk_size, k);
  }
  line.clear();
  fmt::print(
      "crossing: {} trials with {} rows of parity, seed {}: {} transactions, {} objects read, {} "
      "trials failed\n",
      all.trials_, how.parity, how.seed, all.transactions_, all.objects_, failures);
  if (all.exposed_trials_ != 0)
    fmt::print("exposed: {} of them with uncheckpointed records; {} objects refused\n",
               all.exposed_trials_, all.refused_);
  return failures == 0;
}

}  // namespace scute_campaign
