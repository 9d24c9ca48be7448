// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/blokus_duo_inputs.h"
#include "network/chess_inputs.h"
#include "network/go_inputs.h"
#include "network/othello_inputs.h"
#include "network/shogi_inputs.h"
