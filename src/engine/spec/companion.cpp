// SPDX-License-Identifier: BSD-3-Clause
#include "engine/spec/companion.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/lock.hpp"
#include "base/planted.hpp"
#include "codec/crc32c.hpp"
#include "engine/spec/file_pages.hpp"
#include "engine/spec/horizon.hpp"

namespace scute::core::engine {
namespace {

using head = format::log_file_head;
using state = format::log_file_state;
using medium::log_place;

// More would take long to look through, whoever has written them.
constexpr uint32_t chunks_most = uint32_t{1} << 17;
constexpr uint64_t head_at[2] = {0, format::page};

uint32_t checksum_of(const head& h) noexcept {
  constexpr size_t before = offsetof(head, version);
  return codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
}

bool is_head(const head& h) noexcept {
  return std::memcmp(h.magic, format::log_file_magic, sizeof h.magic) == 0 &&
         h.checksum == checksum_of(h);
}

std::optional<head> head_in(const medium::medium& m, int copy) noexcept {
  head h;
  if (!m.read(head_at[copy], &h, sizeof h) || !is_head(h)) return std::nullopt;
  return h;
}

std::optional<head> newest_head(const medium::medium& m) noexcept {
  std::optional<head> a = head_in(m, 0);
  const std::optional<head> b = head_in(m, 1);
  if (b && (!a || b->number > a->number)) a = b;
  return a;
}

uint64_t size_of(const head& h) noexcept {
  return format::log_file_chunks_offset + uint64_t{h.chunks} * h.chunk_size;
}

// Why a head that is valid is not one that this library can have written for such a pool; null: it is.
const char* nonsense(const pool::state& s, const head& h) noexcept {
  using log::redundancy;
  if (h.chunk_size != s.geo.chunk_size) return "chunk size";
  if (h.segment_size < log::segment_page || h.segment_size > h.chunk_size ||
      !std::has_single_bit(h.segment_size))
    return "segment size";
  const auto how = static_cast<redundancy>(h.redundancy);
  if (how != redundancy::one_copy && how != redundancy::two_copies) return "redundancy";
  const uint32_t copies = how == redundancy::two_copies ? 2 : 1;
  if (h.chunks == 0 || h.chunks > chunks_most || h.chunks % copies != 0 || h.kept == 0 ||
      h.kept % copies != 0 || h.kept > h.chunks)
    return "number of chunks";
  if (h.number >= sequence_max) return "number of its head";
  return nullptr;
}

// What is at a name, and whether it is the log that the pool's superblock means.
struct candidate {
  std::unique_ptr<medium::medium> file;
  std::optional<head> found;
  std::string misfit;  // empty: it fits
  scute_error code = SCUTE_E_CORRUPT;

  bool fits() const noexcept { return file != nullptr && misfit.empty(); }
  bool is_of(const pool::state& s) const noexcept {
    return found && std::memcmp(found->uuid, s.sb.uuid, sizeof found->uuid) == 0;
  }
  bool is_closed() const noexcept {
    return found && static_cast<state>(found->state) == state::closed;
  }
  // BESIDE-2: nothing in it can be needed by any copy of any pool; or, as the superblock is newer and needs none, by this one.
  bool is_void(const pool::state& s) const noexcept {
    const bool needed = (s.sb.incompat & format::incompat_log_file) != 0;
    return is_closed() || (!needed && is_of(s) && found->epoch < s.sb.epoch);
  }
  // Nothing was ever appended to it. False if that cannot be read.
  bool is_empty() const {
    constexpr uint64_t step = uint64_t{64} << 10;
    std::vector<std::byte> some(step);
    const uint64_t size = file->size();
    for (uint64_t at = format::log_file_chunks_offset; at < size; at += step) {
      const uint64_t n = std::min(step, size - at);
      if (!file->read(at, some.data(), n)) return false;
      if (std::any_of(some.begin(), some.begin() + static_cast<ptrdiff_t>(n),
                      [](std::byte b) { return b != std::byte{}; }))
        return false;
    }
    return true;
  }
};

// What the epoch of a log of this pool says; the superblock is the pool's.
std::string misfit_of(const pool::state& s, const head& h, bool clean) {
  if (SCUTE_PLANTED(companion_any)) return "";
  const uint64_t e = s.sb.epoch;
  const auto kind = static_cast<state>(h.state);
  if (kind == state::coming && (h.epoch == e || h.epoch == e + 1)) return "";
  if (kind == state::in_use && h.epoch == e) return "";
  if (kind == state::closed && h.epoch == e)
    return clean ? "" : "is from after the pool was closed, which this copy of the pool was not";
  return h.epoch < e ? "is older than the pool (session " + std::to_string(h.epoch) + " of " +
                           std::to_string(e) + ")"
                     : "is newer than the pool (session " + std::to_string(h.epoch) +
                           ", and the pool's last is " + std::to_string(e) + ")";
}

candidate look(const pool::state& s, log_place::name n, bool clean) {
  candidate c;
  const auto how = s.read_only ? medium::access::read : medium::access::write;
  try {
    c.file = s.beside->open(n, how);
  } catch (const failure& f) {  // a link to nowhere
    if (f.code() != SCUTE_E_NOENT) throw;
  }
  // Not as SCUTE_E_NOENT: the pool is there, and nobody shall make it anew.
  if (c.file == nullptr) {
    c.misfit = "is missing";
    return c;
  }
  if (!clean) c.file->refresh();
  c.found = newest_head(*c.file);
  if (!c.found) {
    c.misfit = "is no log of a pool, or is damaged";
  } else if (!c.is_of(s)) {
    c.misfit = "is the log of another pool";
  } else if (c.found->version > format::log_file_version) {
    c.misfit = "was made by a newer Scute";
    c.code = SCUTE_E_VERSION;
  } else if (const char* what = nonsense(s, *c.found)) {
    c.misfit = std::string("makes no sense (") + what + ")";
  } else if (c.file->size() < size_of(*c.found)) {
    c.misfit = "was truncated";
    c.code = SCUTE_E_TRUNCATED;
  } else {
    c.misfit = misfit_of(s, *c.found, clean);
  }
  return c;
}

[[noreturn]] void refuse(const pool::state& s, const std::string& file, const candidate& c) {
  throw failure(
      c.code,
      s.path + ": its log " + file + " " + c.misfit +
          ". The pool was not closed properly, and the transactions of its last moments are in "
          "that file alone; without them the pool is not consistent. Put the log "
          "back beside the pool (both files of the same moment belong together), or restore both "
          "from a backup. Nothing was changed");
}

// What is at `coming` goes: of a creation that was killed, and nothing was ever appended to it, though its head may say `in use`
// before its pool has a name; or of the pool that is being replaced. (If it could not get its name something was appended: such
// a one is set aside.) Whoever makes one now has it locked.
void clear_coming(pool::state& s) {
  const candidate c = look(s, log_place::name::coming, true);
  if (c.file == nullptr) return;
  const bool may_be_needed =
      c.found && static_cast<state>(c.found->state) == state::in_use && !c.is_void(s);
  if (may_be_needed && !s.beside->replaces() && !c.is_empty())
    s.beside->set_aside(log_place::name::coming);
  else
    s.beside->remove(log_place::name::coming);
}

void remove_leftover(pool::state& s) noexcept {
  try {
    clear_coming(s);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it is in nobody's way
  }
}

[[noreturn]] void no_place(const pool::state& s) {
  throw failure(SCUTE_E_UNSUPPORTED,
                s.path + " has its log in a file of its own, and there is no place for one here");
}

}  // namespace

// ---- making -------------------------------------------------------------------------------------------------

void companion::make(pool::state& s, uint64_t cap, uint64_t epoch) {
  if (s.beside == nullptr) no_place(s);
  const std::string named = s.beside->path(log_place::name::named);
  {
    const candidate there = look(s, log_place::name::named, true);
    const bool may_go = there.file == nullptr || s.beside->replaces() || there.is_void(s);
    if (!may_go && !there.is_of(s))
      throw failure(
          SCUTE_E_EXISTS,
          named +
              " is there already and is not this pool's log; if it belongs to no pool, remove it");
    if (!may_go) s.beside->set_aside(log_place::name::named);
  }
  clear_coming(s);
  const segment_list plan = plan_log(s.geo, cap, true);
  head h{};
  std::memcpy(h.magic, format::log_file_magic, sizeof h.magic);
  h.version = format::log_file_version;
  std::memcpy(h.uuid, s.sb.uuid, sizeof h.uuid);
  h.segment_size = plan.segment_size;
  h.chunk_size = s.geo.chunk_size;
  h.redundancy = static_cast<uint32_t>(plan.how);
  const size_t chunks = chunks_of_log(s.geo, plan, cap, true);
  if (chunks > chunks_most / 2)
    throw failure(SCUTE_E_RANGE, s.path + ": a log of " + std::to_string(cap) +
                                     " bytes is too large; ask for a smaller log-cap");
  h.chunks = h.kept = static_cast<uint32_t>(chunks);
  std::unique_ptr<medium::medium> file = s.beside->make(size_of(h));
  try {
    companion made(s, std::move(file), h);
    made.announce(epoch);
  } catch (...) {
    s.beside->remove(log_place::name::coming);
    throw;
  }
}

void companion::name(pool::state& s) {
  if ((s.sb.incompat & format::incompat_log_file) != 0) return s.beside->give_name();
  // That of the pool that was here before.
  if (s.beside == nullptr || !s.beside->replaces()) return;
  if (look(s, log_place::name::named, true).found) s.beside->remove(log_place::name::named);
}

void companion::name_unopened(log_place& beside, const format::superblock& sb) {
  if ((sb.incompat & format::incompat_log_file) == 0 || SCUTE_PLANTED(companion_unnamed)) return;
  const auto is_its = [&](log_place::name n) {
    const std::unique_ptr<medium::medium> file = beside.open(n, medium::access::read);
    const std::optional<head> h = file == nullptr ? std::nullopt : newest_head(*file);
    return h && std::memcmp(h->uuid, sb.uuid, sizeof h->uuid) == 0;
  };
  if (!is_its(log_place::name::named) && is_its(log_place::name::coming)) beside.give_name();
}

void companion::remove_stale(pool::state& s) noexcept {
  if (s.beside == nullptr || s.read_only || (s.sb.incompat & format::incompat_log_file) != 0)
    return;
  for (const auto n : {log_place::name::named, log_place::name::coming}) {
    try {
      if (n == log_place::name::coming) {
        clear_coming(s);
        continue;
      }
      const candidate c = look(s, n, true);
      if (!c.is_of(s)) continue;
      if (c.is_void(s))
        s.beside->remove(n);
      else
        s.beside->set_aside(n);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it is in nobody's way
    }
  }
}

std::unique_ptr<companion> companion::find(pool::state& s, bool clean) {
  if (s.beside == nullptr) no_place(s);
  if (s.read_only && clean) return nullptr;
  candidate named = look(s, log_place::name::named, clean);
  if (named.fits()) {
    if (!s.read_only) remove_leftover(s);
    return std::unique_ptr<companion>(new companion(s, std::move(named.file), *named.found));
  }
  candidate coming = look(s, log_place::name::coming, clean);
  if (coming.fits()) {
    if (!s.read_only) s.beside->give_name();
    return std::unique_ptr<companion>(new companion(s, std::move(coming.file), *coming.found));
  }
  if (clean) {
    named.file.reset();
    coming.file.reset();
    return make_anew(s);
  }
  const bool other = named.file == nullptr && coming.file != nullptr;
  refuse(s, s.beside->path(log_place::name::named), other ? coming : named);
}

std::unique_ptr<companion> companion::seen(pool::state& s) {
  if (s.beside == nullptr) return nullptr;
  candidate c = look(s, log_place::name::named, true);
  // But for its epoch: this session has one of its own, also where it only reads. Nothing that makes no sense is read any further.
  if (c.file == nullptr || !c.is_of(s) || c.found->version > format::log_file_version ||
      nonsense(s, *c.found) != nullptr || c.file->size() < size_of(*c.found))
    return nullptr;
  return std::unique_ptr<companion>(new companion(s, std::move(c.file), *c.found));
}

std::unique_ptr<companion> companion::make_anew(pool::state& s) {
  {
    const candidate there = look(s, log_place::name::named, true);
    if (there.file != nullptr && !there.is_closed()) s.beside->set_aside(log_place::name::named);
  }
  make(s, 0, s.sb.epoch + 1);
  s.beside->give_name();
  candidate c = look(s, log_place::name::named, true);
  if (!c.fits()) throw failure(SCUTE_E_IO, s.path + ": the log that was just made " + c.misfit);
  return std::unique_ptr<companion>(new companion(s, std::move(c.file), *c.found));
}

std::unique_ptr<companion> companion::made(pool::state& s) {
  candidate c = look(s, log_place::name::coming, true);
  if (!c.fits()) throw failure(SCUTE_E_IO, s.path + ": the log that was just made " + c.misfit);
  return std::unique_ptr<companion>(new companion(s, std::move(c.file), *c.found));
}

// ---- the head -----------------------------------------------------------------------------------------------

void companion::fence() {
  w_.fence(fence_site::log_file);
  if (!file_->failed()) return;
  s_.medium->fail_with(file_->failure());
  s_.require_healthy();
}

// Of the heads, of which one that counts can be read, and of the horizon, which is in both of its pages again then.
void companion::renew_first_pages() {
  const horizon_found h = read_horizon(s_, *this);
  if (renew_lost_pages(w_, 0, format::log_file_chunks_offset) == 0) return;
  if (h.sequence != 0) stream_horizon(s_, *this, w_, h);
  fence();
}

// BESIDE-3
void companion::write_head(uint64_t epoch, format::log_file_state state) {
  const locked turn(mutex_);
  if (s_.read_only) return;
  const std::optional<head> first = head_in(*file_, 0), second = head_in(*file_, 1);
  const int last = first && (!second || first->number >= second->number) ? 0 : 1;
  // The copy that counts may be in a dead process's cache only, and the other one is about to be written.
  if (const std::optional<head>& counts = last == 0 ? first : second; counts && !written_) {
    if (!SCUTE_PLANTED(companion_counts)) {
      w_.stream(file_->base() + head_at[last], &*counts, sizeof *counts, medium::purpose::log);
      fence();
    }
  }
  const bool is_first = !std::exchange(written_, true);
  if (is_first) renew_first_pages();
  head_.epoch = epoch;
  head_.state = static_cast<uint32_t>(state);
  ++head_.number;
  head_.checksum = checksum_of(head_);
  const int order[2] = {SCUTE_PLANTED(companion_copies) ? last : 1 - last,
                        SCUTE_PLANTED(companion_copies) ? 1 - last : last};
  for (const int copy : order) {
    w_.stream(file_->base() + head_at[copy], &head_, sizeof head_, medium::purpose::log);
    fence();
  }
  // BESIDE-6: what a crash has left of growing, or of being cut, is not taken for zeros that are durable. Not sooner: the
  // head that was found, and counts less, may have been in a dead process's cache only.
  if (is_first && file_->size() > size_of(head_)) s_.beside->resize(*file_, size_of(head_));
  length_.store(file_->size(), std::memory_order_relaxed);
}

segment_list companion::read() const {
  segment_list list;
  list.number = head_.number;
  list.segment_size = head_.segment_size;
  list.how = static_cast<log::redundancy>(head_.redundancy);
  list.kept = head_.kept;
  for (uint32_t i = 0; i < head_.chunks; ++i) list.chunks.push_back(chunk_at(i));
  return list;
}

void companion::write(medium::writer&, segment_list& list) {
  head_.chunks = static_cast<uint32_t>(list.chunks.size());
  write_head(head_.epoch, static_cast<format::log_file_state>(head_.state));
  list.number = head_.number;
}

// The head is the list's. Once announce() was called nobody writes it but write().
std::vector<log_home::list_copy> companion::list_copies(const segment_list&) const {
  std::vector<list_copy> all;
  const auto bytes = std::as_bytes(std::span(&head_, 1));
  for (const uint64_t at : head_at) all.push_back({at, {bytes.begin(), bytes.end()}});
  return all;
}

void companion::keep(medium::writer&, const segment_list&) {
  {
    const locked turn(mutex_);
    if (s_.read_only) return;
    renew_first_pages();
    if (const horizon_found h = read_horizon(s_, *this); h.sequence != 0)
      stream_horizon(s_, *this, w_, h);
    fence();
  }
  write_head(head_.epoch, static_cast<format::log_file_state>(head_.state));
}

// BESIDE-6
std::vector<uint64_t> companion::lend(pool::lane&, const segment_list& list, size_t chunks) {
  std::vector<uint64_t> more;
  for (size_t i = 0; i < chunks; ++i) more.push_back(chunk_at(list.chunks.size() + i));
  try {
    s_.beside->resize(*file_, chunk_at(list.chunks.size() + chunks));
  } catch (...) {
    // BESIDE-4: it may have been somebody's commit that could not be written.
    if (file_->failed()) s_.medium->fail_with(file_->failure());
    throw;
  }
  length_.store(file_->size(), std::memory_order_relaxed);
  return more;
}

void companion::take_back(pool::lane&, std::vector<uint64_t>& chunks) {
  if (!chunks.empty()) s_.beside->resize(*file_, chunks.front());
  length_.store(file_->size(), std::memory_order_relaxed);
  chunks.clear();
}

uint64_t companion::size_beside(const pool::state& s) noexcept {
  try {
    const candidate c = look(s, log_place::name::named, true);
    // (This session has an epoch of its own, also where it only reads.)
    return c.is_of(s) ? c.file->size() : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace scute::core::engine
