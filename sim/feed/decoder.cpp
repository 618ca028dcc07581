// SPDX-License-Identifier: BSD-3-Clause
#include "feed/decoder.hpp"

#include <capstone/capstone.h>

#include <stdexcept>
#include <string_view>

namespace scute::sim {
namespace {

constexpr uint8_t flags_register = 16, first_vector = 17, other_register = 60;

// The number of the register that a name of its family belongs to, or `none`.
uint8_t number_of(uint16_t reg) {
  switch (reg) {
#define FAMILY(n, a, b, c, d) \
  case X86_REG_##a:           \
  case X86_REG_##b:           \
  case X86_REG_##c:           \
  case X86_REG_##d: return n
    FAMILY(0, RAX, EAX, AX, AL);
    FAMILY(1, RCX, ECX, CX, CL);
    FAMILY(2, RDX, EDX, DX, DL);
    FAMILY(3, RBX, EBX, BX, BL);
    FAMILY(4, RSP, ESP, SP, SPL);
    FAMILY(5, RBP, EBP, BP, BPL);
    FAMILY(6, RSI, ESI, SI, SIL);
    FAMILY(7, RDI, EDI, DI, DIL);
    FAMILY(8, R8, R8D, R8W, R8B);
    FAMILY(9, R9, R9D, R9W, R9B);
    FAMILY(10, R10, R10D, R10W, R10B);
    FAMILY(11, R11, R11D, R11W, R11B);
    FAMILY(12, R12, R12D, R12W, R12B);
    FAMILY(13, R13, R13D, R13W, R13B);
    FAMILY(14, R14, R14D, R14W, R14B);
    FAMILY(15, R15, R15D, R15W, R15B);
#undef FAMILY
    case X86_REG_AH: return 0;
    case X86_REG_CH: return 1;
    case X86_REG_DH: return 2;
    case X86_REG_BH: return 3;
    case X86_REG_EFLAGS: return flags_register;
    case X86_REG_RIP:
    case X86_REG_EIP: return operation::none;
    default: break;
  }
  for (const uint16_t first : {X86_REG_XMM0, X86_REG_YMM0, X86_REG_ZMM0})
    if (reg >= first && reg < first + 32) return static_cast<uint8_t>(first_vector + reg - first);
  return reg == X86_REG_INVALID ? operation::none : other_register;
}

struct latency {
  std::string_view begins;
  uint8_t cycles;
};
// The first that fits; integer multiplication and division are told apart by their whole names.
constexpr latency latencies[] = {
    {"divs", 13},   {"divp", 13}, {"vdiv", 13},  {"sqrt", 13}, {"vsqrt", 13}, {"div", 26},
    {"idiv", 26},   {"muls", 4},  {"mulp", 4},   {"imul", 3},  {"mul", 3},    {"adds", 4},
    {"addp", 4},    {"subs", 4},  {"subp", 4},   {"vadds", 4}, {"vaddp", 4},  {"vsubs", 4},
    {"vsubp", 4},   {"vmul", 4},  {"vfm", 4},    {"cvt", 4},   {"vcvt", 4},   {"pmul", 5},
    {"vpmul", 5},   {"crc32", 3}, {"popcnt", 3}, {"tzcnt", 3}, {"bsf", 3},    {"pclmul", 4},
    {"vpclmul", 4},
};

uint8_t cycles_of(std::string_view name) {
  for (const latency& l : latencies)
    if (name.starts_with(l.begins)) return l.cycles;
  return 1;
}

// Returns true for an instruction that only moves bytes from memory to a register: it takes as long
// as the load does.
bool only_loads(const cs_insn& i) {
  const std::string_view name = i.mnemonic;
  if (i.id == X86_INS_POP) return true;
  const cs_x86& x = i.detail->x86;
  return (name.starts_with("mov") || name.starts_with("vmov")) && x.op_count == 2 &&
         x.operands[0].type == X86_OP_REG && x.operands[1].type == X86_OP_MEM;
}

operation_kind kind_of(const cs_insn& i) {
  const std::string_view name = i.mnemonic;
  switch (i.id) {
    case X86_INS_CLWB: return operation_kind::write_back;
    case X86_INS_CLFLUSH:
    case X86_INS_CLFLUSHOPT: return operation_kind::flush;
    case X86_INS_SFENCE: return operation_kind::fence;
    case X86_INS_MFENCE: return operation_kind::full_fence;
    case X86_INS_LFENCE: return operation_kind::load_fence;
    default: break;
  }
  const cs_x86& x = i.detail->x86;
  if (x.prefix[0] == X86_PREFIX_LOCK) return operation_kind::locked;
  if (i.id == X86_INS_XCHG &&
      (x.operands[0].type == X86_OP_MEM || x.operands[1].type == X86_OP_MEM))
    return operation_kind::locked;
  if (name.starts_with("movnt") || name.starts_with("vmovnt"))
    return x.operands[0].type == X86_OP_MEM ? operation_kind::stream : operation_kind::plain;
  return operation_kind::plain;
}

block_exit exit_of(const cs_insn& i) {
  const cs_x86& x = i.detail->x86;
  const bool direct = x.op_count == 1 && x.operands[0].type == X86_OP_IMM;
  const auto is = [&](uint8_t group) {
    for (uint8_t g = 0; g < i.detail->groups_count; ++g)
      if (i.detail->groups[g] == group) return true;
    return false;
  };
  if (is(X86_GRP_RET)) return block_exit::returns;
  if (is(X86_GRP_CALL)) return direct ? block_exit::calls : block_exit::calls_widely;
  if (i.id == X86_INS_JMP) return direct ? block_exit::jumps : block_exit::jumps_widely;
  return is(X86_GRP_JUMP) ? block_exit::branches : block_exit::falls;
}

void add_register(uint8_t* list, size_t room, uint8_t empty, uint8_t number) {
  if (number == operation::none) return;
  for (size_t i = 0; i < room; ++i) {
    if (list[i] == number) return;
    if (list[i] == empty) {
      list[i] = number;
      return;
    }
  }
}

}  // namespace

decoder::decoder() {
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK ||
      cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
    throw std::runtime_error("capstone cannot decode x86-64");
  engine_ = handle;
  instruction_ = cs_malloc(handle);
}

decoder::~decoder() {
  cs_free(static_cast<cs_insn*>(instruction_), 1);
  csh handle = engine_;
  cs_close(&handle);
}

decoded decoder::decode(std::span<const uint8_t> bytes, uint64_t address) {
  decoded d;
  const uint8_t* code = bytes.data();
  size_t left = bytes.size();
  uint64_t at = address;
  auto* const i = static_cast<cs_insn*>(instruction_);
  if (!cs_disasm_iter(engine_, &code, &left, &at, i)) return d;
  d.op.kind = kind_of(*i);
  d.exit = exit_of(*i);
  d.op.cycles = only_loads(*i) ? 0 : cycles_of(i->mnemonic);
  cs_regs read, written;
  uint8_t reads = 0, writes = 0;
  cs_regs_access(engine_, i, read, &reads, written, &writes);
  // The stack pointer of pushes and calls is computed ahead; a register xor-ed with itself depends
  // on nothing.
  const bool stack = i->id == X86_INS_PUSH || i->id == X86_INS_POP || i->id == X86_INS_CALL ||
                     i->id == X86_INS_RET;
  const cs_x86& x = i->detail->x86;
  const bool zeroes = (i->id == X86_INS_XOR || i->id == X86_INS_PXOR || i->id == X86_INS_VPXOR) &&
                      x.op_count >= 2 && x.operands[x.op_count - 1].type == X86_OP_REG &&
                      x.operands[x.op_count - 1].reg == x.operands[x.op_count - 2].reg;
  // Of the address alone, if no operand reads it as well.
  const auto of_address = [&](uint8_t n) {
    bool found = false;
    for (uint8_t o = 0; o < x.op_count; ++o) {
      const cs_x86_op& operand = x.operands[o];
      if (operand.type == X86_OP_MEM)
        found |= number_of(static_cast<uint16_t>(operand.mem.base)) == n ||
                 number_of(static_cast<uint16_t>(operand.mem.index)) == n;
      else if (operand.type == X86_OP_REG && (operand.access & CS_AC_READ) != 0 &&
               number_of(static_cast<uint16_t>(operand.reg)) == n)
        return false;
    }
    return found && i->id != X86_INS_LEA;
  };
  for (uint8_t r = 0; r < reads && !zeroes; ++r) {
    const uint8_t n = number_of(read[r]);
    if (stack && n == 4) continue;
    if (of_address(n))
      add_register(d.op.address, 2, operation::none, n);
    else
      add_register(d.op.from, 4, operation::none, n);
  }
  for (uint8_t r = 0; r < writes; ++r) {
    const uint8_t n = number_of(written[r]);
    if (n < 16) d.written = static_cast<uint16_t>(d.written | 1U << n);
    if (!(stack && n == 4)) add_register(d.op.to, 2, operation::none - 1, n);
  }
  if (stack) d.written |= 1U << 4;
  d.repeats =
      x.prefix[0] == X86_PREFIX_REP && (d.written & (1U << 7)) != 0 && (d.written & (1U << 1)) != 0;
  unsigned memory_operands = 0;
  for (uint8_t o = 0; o < x.op_count; ++o) {
    if (x.operands[o].type != X86_OP_MEM) continue;
    ++memory_operands;
    const x86_op_mem& m = x.operands[o].mem;
    const bool plain_segment = m.segment == X86_REG_INVALID;
    const bool relative = m.base == X86_REG_RIP;
    const uint8_t base = number_of(static_cast<uint16_t>(m.base));
    const uint8_t index = number_of(static_cast<uint16_t>(m.index));
    d.at.base = base < 16 ? base : address_form::none;
    d.at.index = index < 16 ? index : address_form::none;
    d.at.scale = static_cast<uint8_t>(m.scale);
    d.at.displacement = m.disp + (relative ? static_cast<int64_t>(address + i->size) : 0);
    d.has_address = plain_segment;
  }
  const bool flushes =
      d.op.kind == operation_kind::write_back || d.op.kind == operation_kind::flush;
  d.touches_memory =
      (memory_operands != 0 && i->id != X86_INS_LEA && i->id != X86_INS_NOP && !flushes) || stack;
  // These instructions save state to several places after the address.
  const bool saves = std::string_view(i->mnemonic).find("xsave") != std::string_view::npos ||
                     std::string_view(i->mnemonic).find("xrstor") != std::string_view::npos ||
                     std::string_view(i->mnemonic).find("fxsave") != std::string_view::npos;
  d.has_address = d.has_address && memory_operands == 1 && !stack && !saves;
  return d;
}

}  // namespace scute::sim
