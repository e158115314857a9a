// SPDX-License-Identifier: GPL-2.0
/*
 * The colours of pictures. No variables: programs that show an SVG but are no browser do not know them,
 * and take the light colours. tests/unit/ctl_pictures.sh measures the contrasts.
 */
#include "picture/palette.h"

const char palette_areas[] =
	".ground{fill:#fff}.ink{fill:#15181c}.note{fill:#4a5058}"
	".c0{fill:#d5d9de}.c9{fill:#eceef1}"
	".c1{fill:#a3caf2}.c2{fill:#fcc48a}.c3{fill:#a5d8a0}.c4{fill:#f5aea9}"
	".c5{fill:#cdbaf1}.c6{fill:#e8d365}.c7{fill:#8bd8d1}.c8{fill:#f1b0d8}\n"
	"@media (prefers-color-scheme:dark){"
	".ground{fill:#15181c}.ink{fill:#f3f4f6}.note{fill:#b4bac2}"
	".c0{fill:#454b53}.c9{fill:#282d33}"
	".c1{fill:#1f4e7d}.c2{fill:#7c4812}.c3{fill:#275e2d}.c4{fill:#842d2d}"
	".c5{fill:#51398f}.c6{fill:#5f5206}.c7{fill:#0e5a54}.c8{fill:#7a2a5d}}\n";

const char palette_lines[] =
	".k0{stroke:#5c636c}.k1{stroke:#1c66ad}.k2{stroke:#a85600}.k3{stroke:#2b7730}"
	".k4{stroke:#c02626}.k5{stroke:#663bb0}.k6{stroke:#776400}.k7{stroke:#00746b}"
	".k8{stroke:#ad2479}\n"
	"@media (prefers-color-scheme:dark){"
	".k0{stroke:#a3aab3}.k1{stroke:#6fb4f2}.k2{stroke:#f2a65a}.k3{stroke:#7fcb7c}"
	".k4{stroke:#f58f86}.k5{stroke:#b59ff2}.k6{stroke:#dcc94f}.k7{stroke:#5fcfc4}"
	".k8{stroke:#f094cf}}\n";
