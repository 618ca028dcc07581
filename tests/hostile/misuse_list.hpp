// SPDX-License-Identifier: BSD-3-Clause
// Which function of scute.h is called wrongly by which function here. One file per group of
// functions fills in its part.
#pragma once

#include <map>
#include <string>

#include "hostile/misuse_stage.hpp"

namespace scute::test {

using misuse_fn = void (*)(misuse_stage&);
using misuse_list = std::map<std::string, misuse_fn>;

void list_misuse_of_pools(misuse_list& to);
void list_misuse_of_reading(misuse_list& to);
void list_misuse_of_transactions(misuse_list& to);
void list_misuse_of_services(misuse_list& to);
void list_misuse_of_pow(misuse_list& to);
void list_misuse_of_shield(misuse_list& to);

}  // namespace scute::test
