// SPDX-License-Identifier: BSD-3-Clause
#include "asm_address.hpp"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <cctype>
#include <cstdlib>

#include "asm_text.hpp"

namespace scute_pass {
namespace {

// rdi, edi, di and dil are one register: "di". r8 to r15 keep their names. Empty: no general
// register.
std::string general_register(std::string_view name) {
  while (!name.empty() && name.front() == '%') name.remove_prefix(1);
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.size() >= 2 && text[0] == 'r' && std::isdigit(static_cast<unsigned char>(text[1]))) {
    while (!std::isdigit(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
  }
  if (text.size() == 3 && (text[0] == 'r' || text[0] == 'e')) text.erase(0, 1);
  if (text.size() == 3 && text[2] == 'l') text.pop_back();
  if (text.size() == 2 && text[1] == 'l' &&
      std::string_view("abcd").find(text[0]) != std::string_view::npos)
    text[1] = 'x';
  static constexpr std::string_view names[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
  for (const auto known : names)
    if (text == known) return text;
  return {};
}

// A constant and nothing else: "8", "-0x40", "8+16".
std::optional<int64_t> constant(std::string_view text) {
  int64_t total = 0;
  text = trimmed(text);
  while (!text.empty()) {
    const std::string rest(text);
    char* end = nullptr;
    const long long value = std::strtoll(rest.c_str(), &end, 0);
    if (end == rest.c_str()) return std::nullopt;
    total += value;
    text = trimmed(text.substr(static_cast<size_t>(end - rest.c_str())));
    if (!text.empty() && text.front() != '+' && text.front() != '-') return std::nullopt;
    if (!text.empty() && text.front() == '+') text = trimmed(text.substr(1));
  }
  return total;
}

std::optional<int64_t> displacement_of(std::string_view text) {
  return trimmed(text).empty() ? 0 : constant(text);
}

}  // namespace

asm_operands::asm_operands(llvm::CallBase& call, bool alone)
    : call_(call), builder_(&call), alone_(alone) {
  const auto* code = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  intel_ = code->getDialect() == llvm::InlineAsm::AD_Intel;
  const auto constraints = code->ParseConstraints();
  unsigned argument = 0, result = 0;
  auto* results = llvm::dyn_cast<llvm::StructType>(call.getType());
  for (const auto& constraint : constraints) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    operand next;
    next.output = constraint.Type == llvm::InlineAsm::isOutput && !constraint.isIndirect;
    if (next.output) {
      next.type = results ? results->getElementType(result++) : call.getType();
    } else if (constraint.Type != llvm::InlineAsm::isLabel) {
      next.value = call.getArgOperand(argument++);
      next.type = next.value->getType();
    }
    next.memory = constraint.isIndirect;
    for (const auto& code_text : constraint.Codes) {
      if (code_text.size() > 2 && code_text.front() == '{')
        next.pinned = general_register(code_text.substr(1, code_text.size() - 2));
    }
    // An input that is tied to an output is what the output's register holds at first.
    if (constraint.Type == llvm::InlineAsm::isInput && constraint.hasMatchingInput())
      next.output = true;
    if (constraint.Type == llvm::InlineAsm::isInput && constraint.Codes.size() == 1 &&
        std::isdigit(static_cast<unsigned char>(constraint.Codes[0][0]))) {
      const auto tied = static_cast<unsigned>(std::atoi(constraint.Codes[0].c_str()));
      if (tied < operands_.size()) {
        if (!operands_[tied].memory) operands_[tied].value = next.value;
        next.output = operands_[tied].output;
        next.memory = operands_[tied].memory;
        next.pinned = operands_[tied].pinned;
      }
    }
    operands_.push_back(next);
  }
}

std::optional<asm_operands::reference> asm_operands::reference_of(std::string_view text) const {
  text = trimmed(text);
  if (text.size() < 2 || text[0] != '$') return std::nullopt;
  const bool braces = text[1] == '{';
  if (braces && text.back() != '}') return std::nullopt;
  text = braces ? text.substr(2, text.size() - 3) : text.substr(1);
  reference result;
  size_t digits = 0;
  for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])); ++digits)
    result.number = result.number * 10 + static_cast<unsigned>(text[digits] - '0');
  if (digits == 0 || result.number >= operands_.size()) return std::nullopt;
  text = text.substr(digits);
  if (text.size() == 2 && text[0] == ':')
    result.modifier = text[1];
  else if (!text.empty())
    return std::nullopt;
  return result;
}

bool asm_operands::is_memory(std::string_view text) const {
  if (text.find('[') != std::string_view::npos) return true;
  if (text.find('(') != std::string_view::npos) return true;
  if (const auto dollar = text.find('$'); dollar != std::string_view::npos) {
    const auto named = reference_of(text.substr(dollar));
    return named && (operands_[named->number].memory || named->modifier == 'a');
  }
  // A symbol.
  return !is_register(text) && !constant(text);
}

bool asm_operands::is_register(std::string_view text) const {
  text = trimmed(text);
  if (const auto named = reference_of(text))
    return !operands_[named->number].memory && named->modifier != 'a';
  if (text.find_first_of("([") != std::string_view::npos) return false;
  if (!text.empty() && text.front() == '%') return text.find(':') == std::string_view::npos;
  if (!general_register(text).empty()) return true;
  return text.size() > 3 && text.substr(1, 2) == "mm";
}

unsigned asm_operands::register_size(std::string_view text) const {
  text = trimmed(text);
  if (const auto named = reference_of(text)) {
    switch (named->modifier) {
      case 'k': return 4;
      case 'q': return 8;
      case 'x': return 16;
      case 't': return 32;
      case 'g': return 64;
      default: break;
    }
    auto* type = operands_[named->number].type;
    if (!type || !type->isSized()) return 0;
    const auto size = call_.getModule()->getDataLayout().getTypeStoreSize(type);
    return static_cast<unsigned>(size.getFixedValue());
  }
  while (!text.empty() && text.front() == '%') text.remove_prefix(1);
  if (text.size() > 3 && text.substr(1, 2) == "mm") {
    return text[0] == 'x' ? 16 : text[0] == 'y' ? 32 : text[0] == 'z' ? 64 : 0;
  }
  if (general_register(text).empty()) return 0;
  if (text[0] == 'e') return 4;
  if (text[0] != 'r') return 0;
  return text.back() == 'd' && std::isdigit(static_cast<unsigned char>(text[1])) ? 4 : 8;
}

llvm::Value* asm_operands::fail(std::string text) {
  if (error_.empty()) error_ = std::move(text);
  return nullptr;
}

llvm::Value* asm_operands::input_of(const operand& from, std::string_view text) {
  if (!from.value)
    return fail("the address is in '" + std::string(text) +
                "', which the assembly itself computes");
  if (from.output && !alone_)
    return fail("the address is in '" + std::string(text) +
                "', which the assembly may have changed before");
  return from.value;
}

llvm::Value* asm_operands::register_value(std::string_view text) {
  text = trimmed(text);
  if (const auto named = reference_of(text)) {
    if (operands_[named->number].memory)
      return fail("'" + std::string(text) + "' is memory and not a register");
    return input_of(operands_[named->number], text);
  }
  return address_in_named(text);
}

llvm::Value* asm_operands::address_in_named(std::string_view name) {
  const std::string wanted = general_register(trimmed(name));
  if (!wanted.empty()) {
    for (const auto& candidate : operands_)
      if (candidate.pinned == wanted && candidate.value && !candidate.memory)
        return input_of(candidate, name);
  }
  return fail("no operand says what is in '" + std::string(name) + "'");
}

llvm::Value* asm_operands::sum(llvm::Value* base, llvm::Value* index, int64_t scale,
                               int64_t displacement) {
  auto* word = builder_.getInt64Ty();
  const auto to_word = [&](llvm::Value* value) -> llvm::Value* {
    if (value->getType()->isPointerTy()) return builder_.CreatePtrToInt(value, word);
    if (value->getType()->isIntegerTy(64)) return value;
    return fail("the address is in an operand that is no pointer and no 64-bit number");
  };
  if (!index && base->getType()->isPointerTy()) {
    if (displacement == 0) return base;
    return builder_.CreatePtrAdd(base, builder_.getInt64(static_cast<uint64_t>(displacement)));
  }
  llvm::Value* total = builder_.getInt64(static_cast<uint64_t>(displacement));
  if (base) {
    auto* value = to_word(base);
    if (!value) return nullptr;
    total = builder_.CreateAdd(total, value);
  }
  if (index) {
    auto* value = to_word(index);
    if (!value) return nullptr;
    total = builder_.CreateAdd(
        total, builder_.CreateMul(value, builder_.getInt64(static_cast<uint64_t>(scale))));
  }
  return builder_.CreateIntToPtr(total, builder_.getPtrTy());
}

llvm::Value* asm_operands::address_in_register(std::string_view text) {
  auto* value = register_value(text);
  return value ? sum(value, nullptr, 0, 0) : nullptr;
}

llvm::Value* asm_operands::address_of(std::string_view text) {
  text = trimmed(text);
  // "8$0", "8+$0", "$0": the memory of an operand.
  if (const auto dollar = text.find('$'); dollar != std::string_view::npos) {
    const auto named = reference_of(text.substr(dollar));
    auto before = trimmed(text.substr(0, dollar));
    if (!before.empty() && before.back() == '+') before.remove_suffix(1);
    for (std::string_view word : {"byte", "dword", "qword", "zmmword", "ymmword", "xmmword", "ptr"})
      if (intel_ && before.substr(0, word.size()) == word)
        before = trimmed(before.substr(word.size()));
    // ${0:a}: the memory that a register points to.
    if (named && named->modifier == 'a' && before.empty() && !operands_[named->number].memory) {
      auto* value = input_of(operands_[named->number], text);
      return value ? sum(value, nullptr, 0, 0) : nullptr;
    }
    const auto displacement = displacement_of(before);
    if (named && operands_[named->number].memory && displacement)
      return sum(operands_[named->number].value, nullptr, 0,
                 *displacement + (named->modifier == 'H' ? 8 : 0));
  }
  return intel_ ? intel_address(text) : att_address(text);
}

// displacement(base,index,scale)
llvm::Value* asm_operands::att_address(std::string_view text) {
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 1 != text.size())
    return fail("'" + std::string(text) + "' is no address that the pass can follow");
  const auto displacement = displacement_of(text.substr(0, open));
  if (!displacement)
    return fail("'" + std::string(text) + "' has a displacement or a segment that is no number");
  std::string_view parts[3];
  auto inside = text.substr(open + 1, close - open - 1);
  for (auto& part : parts) {
    const auto comma = inside.find(',');
    part = trimmed(inside.substr(0, comma));
    inside = comma == std::string_view::npos ? std::string_view{} : inside.substr(comma + 1);
  }
  llvm::Value* base = parts[0].empty() ? nullptr : register_value(parts[0]);
  llvm::Value* index = parts[1].empty() ? nullptr : register_value(parts[1]);
  if ((!parts[0].empty() && !base) || (!parts[1].empty() && !index)) return nullptr;
  if (!base && !index) return fail("'" + std::string(text) + "' names no register");
  const auto scale = parts[2].empty() ? std::optional<int64_t>(1) : constant(parts[2]);
  if (!scale) return fail("'" + std::string(text) + "' has a scale that is no number");
  return sum(base, index, *scale, *displacement);
}

// [base + index*scale + displacement], with "byte ptr" before it or not
llvm::Value* asm_operands::intel_address(std::string_view text) {
  const auto open = text.find('['), close = text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      text.substr(0, open).find(':') != std::string_view::npos)
    return fail("'" + std::string(text) + "' is no address that the pass can follow");
  llvm::Value *base = nullptr, *index = nullptr;
  int64_t scale = 1, displacement = 0;
  auto inside = text.substr(open + 1, close - open - 1);
  while (!trimmed(inside).empty()) {
    auto end = inside.find_first_of("+-", 1);
    auto term = trimmed(inside.substr(0, end));
    inside = end == std::string_view::npos ? std::string_view{}
                                           : inside.substr(inside[end] == '+' ? end + 1 : end);
    if (const auto number = constant(term)) {
      displacement += *number;
      continue;
    }
    const auto star = term.find('*');
    const auto name = trimmed(term.substr(0, star));
    auto* value = register_value(name);
    if (!value) return nullptr;
    const auto factor =
        star == std::string_view::npos ? std::nullopt : constant(term.substr(star + 1));
    if (star != std::string_view::npos && !factor)
      return fail("'" + std::string(text) + "' has a scale that is no number");
    if (!base && !factor) {
      base = value;
    } else if (!index) {
      index = value;
      scale = factor.value_or(1);
    } else {
      return fail("'" + std::string(text) + "' is no address that the pass can follow");
    }
  }
  if (!base && !index) return fail("'" + std::string(text) + "' names no register");
  return sum(base, index, scale, displacement);
}

}  // namespace scute_pass
