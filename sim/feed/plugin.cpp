// SPDX-License-Identifier: BSD-3-Clause
// The front end: a plugin for QEMU's user-mode emulator. Each block of instructions is decoded when
// it is translated; when it is executed, its instructions go to the model with the addresses that
// the emulator reports, in this process.
//
//   qemu-x86_64 -cpu max
//       -plugin PLUGIN,machine=FILE,scheme=NAME,work=NAME,out=FILE
//               [,set=NAME:VALUE...][,crashes=N][,record=FILE]
//       PROGRAM
//
// The interface reports no addresses for clwb and its kin, which touch no memory as far as the
// emulator is concerned, and has no registers. Generated code keeps the emulated processor's state
// in rbp while it calls back, and that state begins with the 16 general registers; they are up to
// date at the beginning of a block and after each reference to memory.
//
// FEED-1 The registers that a flush's address is computed from are up to date: where they may not
//    be, because the block has changed them since, the program has to be run with blocks of one
//    instruction (-singlestep).
// FEED-2 What is read as registers is checked: the addresses of loads at the beginnings of blocks,
//    computed from them, are the ones that the emulator reports; if one is not, the run ends with
//    an error.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "feed/decoder.hpp"
#include "feed/plugin_interface.hpp"
#include "feed/recorder.hpp"
#include "feed/run.hpp"

extern "C" {
__attribute__((visibility("default"))) extern const int qemu_plugin_version = 1;
// Hand on the third argument, rbp.
void scute_sim_flush_stub(unsigned, void*);
void scute_sim_check_stub(unsigned, void*);
void scute_sim_flush(unsigned cpu, void* of, const uint64_t* registers);
void scute_sim_check(unsigned cpu, void* of, const uint64_t* registers);
}

#if defined(__x86_64__)
asm(".text\n"
    ".hidden scute_sim_flush_stub\n.globl scute_sim_flush_stub\nscute_sim_flush_stub:\n"
    "  mov %rbp, %rdx\n  jmp scute_sim_flush\n"
    ".hidden scute_sim_check_stub\n.globl scute_sim_check_stub\nscute_sim_check_stub:\n"
    "  mov %rbp, %rdx\n  jmp scute_sim_check\n"
    ".hidden scute_sim_flush\n.hidden scute_sim_check\n");
#else
#error "the front end reads registers as QEMU keeps them on x86-64"
#endif

namespace scute::sim {
namespace {

struct block {
  uint64_t address;
  block_end end;
  std::vector<decoded> instructions;
};
struct place {
  block* of;
  uint32_t index;
};
struct seen {
  uint32_t index;
  reference ref;
};

struct word_seen {
  uint32_t index;
  uint64_t address, word;
};

struct front_end {
  settings numbers;
  std::string scheme_name = "none", work, machine_name = "defaults", out;
  std::unique_ptr<run> to;
  std::unique_ptr<recorder> record;
  decoder decode;
  std::deque<block> blocks;
  std::deque<place> places;
  // The block that runs: what it has referred to, and what of it the model has.
  block* now = nullptr;
  size_t done = 0;
  std::vector<seen> seen_;
  std::vector<reference> refs;
  size_t seen_done = 0;
  unsigned crashes = 0;  // power failures to try; with any, the bytes of stores are handed over
  std::vector<word_seen> words;
  size_t words_done = 0;
  const decoded* repeated = nullptr;  // the string instruction that ran last, and its last element
  std::vector<reference> repeated_refs;
  uint64_t expected = 0;  // FEED-2
  const place* expecting = nullptr;
  unsigned checks = 0;
};
front_end* self;

constexpr unsigned checks_max = 4000;

[[noreturn]] void fail(const std::string& what, int status = 1) {
  std::fprintf(stderr, "scute-sim: %s\n", what.c_str());
  std::_Exit(status);
}

// Processors move strings by whole lines: elements that continue the last one's places in the same
// half line are no work.
bool joins(front_end& f, const decoded& d) {
  bool all = f.repeated == &d && f.refs.size() == f.repeated_refs.size() && !f.refs.empty();
  for (size_t i = 0; all && i < f.refs.size(); ++i)
    all = f.refs[i].address == f.repeated_refs[i].address + f.repeated_refs[i].bytes &&
          (f.refs[i].address % 32 != 0 || !f.refs[i].store);
  f.repeated = &d;
  f.repeated_refs = f.refs;
  return all;
}

// Hands over the instructions of the block up to, not including, that one.
void hand_over(size_t upto) {
  front_end& f = *self;
  if (f.now == nullptr) return;
  if (!f.to->is_on()) {
    f.done = upto;
    f.seen_.clear();
    f.words.clear();
    f.seen_done = f.words_done = 0;
    return;
  }
  for (; f.done < upto; ++f.done) {
    f.refs.clear();
    for (; f.seen_done < f.seen_.size() && f.seen_[f.seen_done].index == f.done; ++f.seen_done)
      f.refs.push_back(f.seen_[f.seen_done].ref);
    const decoded& d = f.now->instructions[f.done];
    if (!(d.repeats && f.refs.size() < 3 && joins(f, d))) {
      f.to->execute(d.op, f.refs);
      if (f.record) f.record->instruction(d.op, f.refs);
    }
    for (; f.words_done < f.words.size() && f.words[f.words_done].index == f.done; ++f.words_done)
      f.to->stored(f.words[f.words_done].address, f.words[f.words_done].word);
  }
}

void on_block(unsigned cpu, void* of) {
  front_end& f = *self;
  if (cpu != 0) return;  // threads of the program's own, besides the cores
  if (f.now != nullptr) hand_over(f.now->instructions.size());
  const block_end before = f.now != nullptr ? f.now->end : block_end{};
  f.now = static_cast<block*>(of);
  f.done = f.seen_done = f.words_done = 0;
  f.seen_.clear();
  f.words.clear();
  if (!f.to->is_on()) return;
  f.to->enter_block(f.now->address, before);
  if (f.record) f.record->block(f.now->address, before);
}

void on_memory(unsigned cpu, uint32_t info, uint64_t address, void* of) {
  front_end& f = *self;
  if (cpu != 0) return;
  const place& p = *static_cast<place*>(of);
  const bool store = qemu_plugin_mem_is_store(info);
  const uint32_t bytes = 1U << qemu_plugin_mem_size_shift(info);
  if (f.expecting == &p && f.expected != address) {
    char where[64];
    std::snprintf(where, sizeof where, " at %#llx", static_cast<unsigned long long>(p.of->address));
    fail("registers are not where they are looked for (FEED-2)" + std::string(where));
  }
  f.expecting = nullptr;
  if (address - board_address < page_bytes) {
    const auto* const b = reinterpret_cast<const board*>(board_address);
    if (!store || address != board_address || b->magic != board_magic) return;
    hand_over(p.index);
    if (f.record) f.record->marked(static_cast<mark>(b->what), b->a, b->b);
    const uint64_t answered = f.to->take(static_cast<mark>(b->what), b->a, b->b);
    reinterpret_cast<board*>(board_address)->answer = answered;
    f.done = p.index + 1;  // a mark is no work
    return;
  }
  if (!f.to->is_on()) return;
  // The store has been made. Other bytes in its words have been handed over or are about to be.
  if (f.crashes != 0 && store)
    for (uint64_t word = address & ~uint64_t{7}; word < address + bytes; word += 8)
      f.words.push_back({p.index, word, *reinterpret_cast<const volatile uint64_t*>(word)});
  // Wide accesses are reported in parts.
  if (f.seen_.size() > f.seen_done && f.seen_.back().index == p.index) {
    reference& last = f.seen_.back().ref;
    if (last.store == store && last.address + last.bytes == address) {
      last.bytes += bytes;
      return;
    }
  }
  f.seen_.push_back({p.index, {address, bytes, store}});
}

uint64_t address_of(const address_form& a, const uint64_t* registers) {
  uint64_t at = static_cast<uint64_t>(a.displacement);
  if (a.base != address_form::none) at += registers[a.base];
  if (a.index != address_form::none) at += registers[a.index] * a.scale;
  return at;
}

uint16_t registers_of(const address_form& a) {
  uint16_t bits = 0;
  if (a.base != address_form::none) bits = static_cast<uint16_t>(bits | 1U << a.base);
  if (a.index != address_form::none) bits = static_cast<uint16_t>(bits | 1U << a.index);
  return bits;
}

void on_fence(unsigned cpu, void*) {
  if (cpu != 0) self->to->elsewhere(true);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  front_end& f = *self;
  block& b = f.blocks.emplace_back();
  b.address = qemu_plugin_tb_vaddr(tb);
  const size_t n = qemu_plugin_tb_n_insns(tb);
  b.instructions.reserve(n);
  uint16_t fresh = 0;  // registers that the block has changed since they were stored
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, plugin_no_registers, &b);
  for (size_t i = 0; i < n; ++i) {
    qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, i);
    const auto* const bytes = static_cast<const uint8_t*>(qemu_plugin_insn_data(insn));
    const uint64_t at = qemu_plugin_insn_vaddr(insn);
    const decoded d = f.decode.decode({bytes, qemu_plugin_insn_size(insn)}, at);
    b.instructions.push_back(d);
    b.end = {at, at + qemu_plugin_insn_size(insn), d.exit};
    place* const here = &f.places.emplace_back(place{&b, static_cast<uint32_t>(i)});
    qemu_plugin_register_vcpu_mem_cb(insn, on_memory, plugin_no_registers, plugin_reads_and_writes,
                                     here);
    if (d.op.kind == operation_kind::write_back || d.op.kind == operation_kind::flush) {
      if ((fresh & registers_of(d.at)) != 0)
        fail("a flush whose address may not be known: run with -singlestep (FEED-1)", 3);
      qemu_plugin_register_vcpu_insn_exec_cb(insn, scute_sim_flush_stub, plugin_no_registers, here);
    } else if (i == 0 && d.has_address && d.touches_memory && f.checks < checks_max) {
      ++f.checks;
      qemu_plugin_register_vcpu_insn_exec_cb(insn, scute_sim_check_stub, plugin_no_registers, here);
    }
    if (d.op.kind == operation_kind::fence)
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fence, plugin_no_registers, nullptr);
    if (d.touches_memory) fresh = 0;
    fresh = static_cast<uint16_t>(fresh | d.written);
  }
}

void on_exit(qemu_plugin_id_t, void*) {
  front_end& f = *self;
  witness::crash_result verified;
  if (f.record && !f.record->close()) fail("the record cannot be written");
  if (f.crashes != 0) verified = f.to->verify(f.crashes);
  const std::string line = to_json(f.to->results(), f.numbers, f.scheme_name, f.work,
                                   f.machine_name, f.crashes != 0 ? &verified : nullptr);
  if (f.out.empty()) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  std::ofstream out(f.out, std::ios::app);
  out << line << '\n';
  if (!out) fail(f.out + ": cannot be written");
}

void take_argument(front_end& f, const std::string& argument) {
  const auto equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (name == "machine") {
    f.numbers = read_settings(value);
    const auto slash = value.rfind('/');
    f.machine_name = value.substr(slash == std::string::npos ? 0 : slash + 1);
    f.machine_name = f.machine_name.substr(0, f.machine_name.find('.'));
  } else if (name == "set") {
    const auto colon = value.find(':');
    if (colon == std::string::npos) fail("set=NAME:VALUE: " + value, 2);
    set(f.numbers, value.substr(0, colon), value.substr(colon + 1));
  } else if (name == "scheme") {
    f.scheme_name = value;
  } else if (name == "work") {
    f.work = value;
  } else if (name == "out") {
    f.out = value;
  } else if (name == "record") {
    f.record = std::make_unique<recorder>(value);
  } else if (name == "crashes") {
    f.crashes = static_cast<unsigned>(std::stoul(value));
  } else {
    fail("no argument of the front end: " + name, 2);
  }
}

}  // namespace
}  // namespace scute::sim

void scute_sim_flush(unsigned cpu, void* of, const uint64_t* registers) {
  using namespace scute::sim;
  front_end& f = *self;
  if (cpu != 0) f.to->elsewhere(false);
  if (cpu != 0 || !f.to->is_on()) return;
  const place& p = *static_cast<place*>(of);
  const uint64_t at = address_of(p.of->instructions[p.index].at, registers);
  f.seen_.push_back({p.index, {at, 1, false}});
}

void scute_sim_check(unsigned cpu, void* of, const uint64_t* registers) {
  using namespace scute::sim;
  if (cpu != 0) return;
  const place& p = *static_cast<place*>(of);
  self->expected = address_of(p.of->instructions[p.index].at, registers);
  self->expecting = &p;
}

extern "C" __attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                                          const qemu_info_t*, int n,
                                                                          char** arguments) {
  using namespace scute::sim;
  try {
    self = new front_end;
    for (int i = 0; i < n; ++i) take_argument(*self, arguments[i]);
    self->to = std::make_unique<run>(self->numbers, self->scheme_name);
    if (self->crashes != 0)
      self->to->watch_crashes([](uint64_t address, uint64_t bytes) {
        const auto* const words = reinterpret_cast<const uint64_t*>(address);
        return std::vector<uint64_t>(words, words + bytes / 8);
      });
  } catch (const std::exception& e) {
    fail(e.what(), 2);
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
