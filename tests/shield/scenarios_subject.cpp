// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <random>
#include <stdexcept>

#include "c_api/pool/guard.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/engine/speculative/log_file/segment_list.hpp"
#include "core/layout/foreign_limits.hpp"
#include "core/medium/user_file.hpp"
#include "foreign_subject.hpp"
#include "testing/pool/pool_handle.hpp"
#include "testing/pool/simulated_medium.hpp"

namespace scute::testing {
namespace {

using core::instance;

void need(int result) {
  if (result != SCUTE_OK) throw std::runtime_error(scute_errormsg());
}

constexpr uint64_t log_cap = 64 * 1024;

char first_letter(uint64_t offset) {
  return static_cast<char>('A' + offset / 64 % 23);
}

// The length is the only thing that a file system has of it.
class simulated_user_file final : public core::medium::user_file {
 public:
  simulated_user_file(memory& m, uint64_t cell)
      : writer_(m), cell_(reinterpret_cast<uint64_t*>(m.bytes().data() + cell)) {}

  const std::string& path() const noexcept override { return path_; }
  core::medium::file_identity look() const override { return {1, *cell_, *cell_, *cell_}; }
  void join(core::medium::medium&, const core::medium::segments&, uint64_t,
            core::medium::medium::sharing) const override {}
  void grow(uint64_t size) override {
    writer_.store(cell_, &size, sizeof size);
    writer_.flush(cell_, sizeof size);
    writer_.fence();
  }
  void reserve(uint64_t) override {}
  unsigned mode() const override { return 0600; }
  void set_mode(unsigned) override {}

 private:
  const std::string path_ = "simulated";
  writer writer_;
  uint64_t* cell_;
};

template <typename Make>
int publish(scute_pool** pool, Make&& make) {
  return core::c_api::guarded([&] {
    auto p = std::make_unique<scute_pool>();
    p->in = make();
    *pool = p.release();
  });
}

}  // namespace

foreign_subject::foreign_subject(const foreign_shape& shape)
    : shape_(shape), zone_before_(core::pool::foreign_zone_bytes) {
  scute_options_init(&options_);
  options_.engine = shape.engine;
  options_.rows = 4;
  options_.lanes = 2;
  options_.chunk_size = 16 * 1024;
  if (shape.zones > 1) core::pool::foreign_zone_bytes = share;
  plan_ = core::pool::plan_foreign(options_, shape.size, shape.capacity, 0);
  if (shape.engine == SCUTE_ENGINE_SPEC) {
    options_.log_cap = log_cap;
    for (int i = 0; i < 4;
         ++i)  // as an opening does: the log is a part of what its length depends on
      plan_ = core::pool::plan_foreign(
          options_, shape.size, shape.capacity,
          static_cast<uint32_t>(core::engine::chunks_of_log(
              plan_.geo, core::engine::plan_log(plan_.geo, log_cap), log_cap)));
  }
  if (plan_.geo.zone_count != shape.zones) throw std::logic_error("the zones are not as wanted");
}

foreign_subject::~foreign_subject() {
  core::pool::foreign_zone_bytes = zone_before_;
}

uint64_t foreign_subject::size() const {
  return plan_.geo.file_size + 4096;
}

void foreign_subject::create(memory& m, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::byte identity[identity_size];
  for (auto& b : identity) b = static_cast<std::byte>(random() | 1);
  // The file, long before.
  {
    writer w(m);
    const core::medium::segments places{
        plan_.geo.chunk_offset(0, plan_.record.first + plan_.record.chunks / 129),
        plan_.geo.zone_size, plan_.record.share, plan_.geo.zone_count};
    char line[64];
    for (uint64_t at = 0; at < shape_.size; at += sizeof line) {
      const uint64_t n = std::min<uint64_t>(sizeof line, shape_.size - at);
      std::memset(line, first_letter(at), n);
      w.stream(m.bytes().data() + places.place_of(at), line, n);
    }
    const uint64_t cell = plan_.geo.file_size;
    w.stream(m.bytes().data() + cell, &shape_.size, sizeof shape_.size);
    w.fence();
  }
  need(publish(&pool_, [&] {
    core::foreign_request request;
    request.file = std::make_unique<simulated_user_file>(m, plan_.geo.file_size);
    request.capacity = shape_.capacity;
    return instance::format(
        std::make_unique<simulated_medium>(m.simulated(), 0, plan_.geo.file_size),
        "simulated.scute", options_, identity, nullptr, &request);
  }));
}

void foreign_subject::open(memory& m) {
  need(publish(&pool_, [&] {
    return instance::attach(
        std::make_unique<simulated_medium>(m.simulated(), 0, plan_.geo.file_size),
        "simulated.scute", options_, nullptr,
        std::make_unique<simulated_user_file>(m, plan_.geo.file_size));
  }));
}

findings foreign_subject::check(bool repair) {
  findings found;
  const auto note = [](void* to, const char* what, uint64_t offset, uint64_t length, scute_oid,
                       int) {
    static_cast<findings*>(to)->texts.push_back(
        std::string(what) + " at " + std::to_string(offset) + "+" + std::to_string(length));
  };
  scute_report r{};
  r.struct_size = sizeof r;
  need(scute_check(pool_, repair ? 1 : 0, &r, note, nullptr, &found));
  found.damaged = r.damaged;
  found.lost = r.lost;
  return found;
}

void foreign_subject::probe() {
  char before[100], now[100];
  need(scute_shield_read(pool_, 50, before, sizeof before));
  write({{50, sizeof before, '!'}});
  need(scute_shield_read(pool_, 50, now, sizeof now));
  if (std::string(now, sizeof now) != std::string(sizeof now, '!'))
    throw std::runtime_error("the file does not hold what was written to it");
  const scute_shield_change back{50, before, sizeof before};
  need(scute_shield_write(pool_, &back, 1));
}

void foreign_subject::close() {
  need(scute_close(std::exchange(pool_, nullptr)));
}

void foreign_subject::abandon() noexcept {
  if (pool_ == nullptr) return;
  testing::abandon(pool_);
  scute_close(std::exchange(pool_, nullptr));
}

void foreign_subject::act_as(unsigned thread) noexcept {
  prefer_lane(thread);
}

void foreign_subject::drain() {
  testing::drain(pool_);
}

void foreign_subject::write(std::initializer_list<letters> changes) {
  std::vector<std::string> texts;
  for (const letters& l : changes) texts.emplace_back(l.n, l.letter);
  std::vector<scute_shield_change> all;
  size_t i = 0;
  for (const letters& l : changes) all.push_back({l.offset, texts[i++].data(), l.n});
  need(scute_shield_write(pool_, all.data(), all.size()));
}

void foreign_subject::replace(std::initializer_list<letters> changes) {
  const std::vector<char> old = read_all();
  std::vector<std::string> texts;
  for (const letters& l : changes) texts.emplace_back(l.n, l.letter);
  std::vector<scute_shield_replacement> all;
  size_t i = 0;
  for (const letters& l : changes)
    all.push_back({l.offset, texts[i++].data(), old.data() + l.offset, l.n});
  need(scute_shield_replace(pool_, all.data(), all.size()));
}

void foreign_subject::grow(uint64_t size) {
  need(scute_shield_grow(pool_, size));
}

std::vector<char> foreign_subject::read_all() const {
  scute_shield_state state{};
  state.struct_size = sizeof state;
  need(scute_shield_info(pool_, &state));
  std::vector<char> all(state.size);
  need(scute_shield_read(pool_, 0, all.data(), all.size()));
  return all;
}

std::string foreign_subject::text() const {
  const std::vector<char> all = read_all();
  std::string text = std::to_string(all.size()) + " bytes, digest " +
                     std::to_string(core::codec::crc32c(0, all.data(), all.size()));
  for (uint64_t at = 0; at < all.size(); at += 1000)
    if (all[at] != first_letter(at))
      text += " " + std::to_string(at) + "=" +
              (all[at] == 0 ? std::string("0") : std::string(1, all[at]));
  return text;
}

}  // namespace scute::testing
