// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/simulated_place.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "testing/pool/simulated_medium.hpp"

namespace scute::testing {
namespace {

// Simulates core/medium/log_file.hpp, a file that is synced as a whole. A fence makes durable what
// any thread has streamed before, if its own thread has streamed anything; otherwise it does
// nothing. No thread reads streamed bytes back before a fence writes them. A crash may leave any of
// them all the same, since other threads' fences write them.
class sized_medium final : public simulated_medium {
 public:
  // The file's size is also in the folder, at `word`.
  sized_medium(model::simulated_memory& m, uint64_t from, uint64_t size, uint64_t word)
      : simulated_medium(m, from, size), m_(m), start_(from), word_(word) {}
  // Durable with the next fence, like the zeros. A crash may leave any of them, and older bytes.
  void resize(uint64_t size) {
    const std::byte zeros[64] = {};
    for (uint64_t at = start_ + size_; at < start_ + size; at += sizeof zeros)
      if (std::memcmp(m_.bytes().data() + at, zeros, sizeof zeros) != 0) {
        m_.store(at, zeros, sizeof zeros);
        dirty_.push_back({++streamed_, at, sizeof zeros, {}});
      }
    m_.store(word_, &size, sizeof size);
    size_ = size;
  }
  // Bytes after its end cannot be read.
  bool read(uint64_t offset, void* to, size_t n) const noexcept override {
    if (offset + n > size_ || !simulated_medium::read(offset, to, n)) return false;
    const uint64_t at = start_ + offset;
    for (auto p = dirty_.rbegin(); p != dirty_.rend(); ++p) {
      if (p->before.empty()) continue;
      const uint64_t begin = std::max(at, p->at), end = std::min(at + n, p->at + p->n);
      if (begin < end)
        std::memcpy(static_cast<std::byte*>(to) + (begin - at), p->before.data() + (begin - p->at),
                    end - begin);
    }
    return true;
  }

 protected:
  void do_stream(scute::core::medium::writer& w, void* dst, const void* src,
                 size_t n) noexcept override {
    const uint64_t at = start_ + static_cast<uint64_t>(static_cast<std::byte*>(dst) - base_);
    const std::byte* const there = m_.bytes().data() + at;
    std::vector<std::byte> before(there, there + n);
    m_.store(at, src, n);
    dirty_.push_back({++streamed_, at, n, std::move(before)});
    do_flush(w, dst, n);
  }
  // A sync writes pages that were stored to, but not those that a dead process has left clean.
  void do_flush(scute::core::medium::writer& w, const void*, size_t) noexcept override {
    if (w.dirty.empty()) w.dirty.push_back({0, 0});
  }
  void do_fence(scute::core::medium::writer& w) noexcept override {
    if (w.dirty.empty()) return;
    w.dirty.clear();
    const uint64_t last = streamed_;
    for (piece& p : dirty_) p.before.clear();
    // Other threads may come in between, and sync the same pieces.
    const std::vector<piece> mine = dirty_;
    const unsigned number = number_of(w);
    for (const piece& p : mine) m_.flush(p.at, p.n, number);
    m_.flush(word_, sizeof word_, number);  // of any thread
    m_.fence(number);
    std::erase_if(dirty_, [&](const piece& p) { return p.number <= last; });
  }

 private:
  struct piece {
    uint64_t number, at;
    size_t n;
    // the bytes that a reader sees; empty: the piece itself, which is written by then
    std::vector<std::byte> before;
  };
  model::simulated_memory& m_;
  const uint64_t start_, word_;
  uint64_t streamed_ = 0;
  std::vector<piece> dirty_;  // not synced yet
};

class simulated_place final : public core::medium::log_paths {
 public:
  simulated_place(model::simulated_memory& m, uint64_t folder) : memory_(m), folder_(folder) {}

  std::string path(name n) const override {
    return n == name::named ? "simulated.pool.log" : "simulated.pool.log.new";
  }
  bool is_wanted(const core::medium::medium&) const noexcept override { return true; }

  std::unique_ptr<core::medium::medium> open(name n, core::medium::access) override {
    const uint64_t slot = slot_of(n);
    if (slot == 0) return nullptr;
    return file(slot, word(slot));
  }

  std::unique_ptr<core::medium::medium> make(uint64_t size) override {
    if (size > slot_size) throw failure(SCUTE_E_NOSPC, "no room for a simulated log");
    remove(name::coming);
    // A file system uses the blocks of a removed file again only when its removal is durable, also
    // by a process that has died.
    set(0, word(0));
    const uint64_t slot = slot_of(name::named) == 1 ? 2 : 1;
    zero(slot, 0, slot_size);
    set(slot, size);
    set(0, slot << 32 | slot_of(name::named));
    return file(slot, size);
  }

  void give_name() override {
    if (slot_of(name::named) != 0) throw failure(SCUTE_E_EXISTS, "a simulated log has that name");
    set(0, slot_of(name::coming));
  }
  void set_aside(name n) override { remove(n); }
  bool remove(name n) noexcept override {
    if (slot_of(n) == 0) {
      errno = ENOENT;
      return false;
    }
    set(0, n == name::named ? slot_of(name::coming) << 32 : slot_of(name::named));
    return true;
  }

  void resize(core::medium::medium& m, uint64_t size) override {
    if (size > slot_size) throw failure(SCUTE_E_NOSPC, "no room for a simulated log");
    static_cast<sized_medium&>(m).resize(size);
  }

 private:
  static constexpr uint64_t slot_size = 256 * 1024;

  uint64_t word(uint64_t i) const noexcept {
    uint64_t value = 0;
    std::memcpy(&value, memory_.bytes().data() + folder_ + i * 64, sizeof value);
    return value;
  }
  void set(uint64_t i, uint64_t value) {
    memory_.store(folder_ + i * 64, &value, sizeof value);
    memory_.flush(folder_ + i * 64, sizeof value, writer_);
    memory_.fence(writer_);
  }
  uint64_t slot_of(name n) const noexcept {
    return n == name::named ? word(0) & 0xffffffff : word(0) >> 32;
  }
  uint64_t start_of(uint64_t slot) const noexcept {
    return folder_ + uint64_t{4096} + (slot - 1) * slot_size;
  }
  std::unique_ptr<core::medium::medium> file(uint64_t slot, uint64_t size) {
    return std::make_unique<sized_medium>(memory_, start_of(slot), size, folder_ + slot * 64);
  }
  void zero(uint64_t slot, uint64_t from, uint64_t to) {
    const std::vector<std::byte> zeros(to - from);
    memory_.stream(start_of(slot) + from, zeros.data(), zeros.size(), writer_);
    memory_.fence(writer_);
  }

  model::simulated_memory& memory_;
  const uint64_t folder_;
  const unsigned writer_ = memory_.next_writer();
};

}  // namespace

std::unique_ptr<core::medium::log_paths> place_in(model::simulated_memory& m, uint64_t pool_size) {
  if (m.bytes().size() <= pool_size) return nullptr;
  return std::make_unique<simulated_place>(m, pool_size);
}

}  // namespace scute::testing
