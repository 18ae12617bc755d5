// SPDX-License-Identifier: Apache-2.0
#include "core/report/page_style.hpp"

#include "core/report/palette.hpp"

namespace d5::detail {

std::string page_style() {
  return R"(
:root{color-scheme:light dark;--back:#fff;--card:#f6f7f9;--ink:#1b1f24;--soft:#5a626d;--line:#dfe3e8;
--passed:#00694c;--failed:#b42318;--mistrusted:#8a5a00;--link:#0072b2}
)" + colour_rules(Theme::light) +
         R"(
@media (prefers-color-scheme:dark){:root{--back:#14171b;--card:#1b2026;--ink:#e6e9ed;--soft:#a2abb6;
--line:#363d47;--passed:#4cc9a0;--failed:#ff8f80;--mistrusted:#f0c65a;--link:#56b4e9}
)" + colour_rules(Theme::dark) +
         R"(}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1384px;padding:24px 28px 64px;background:var(--back);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
h1{font-size:26px;line-height:1.2;margin:0 0 6px}
h2{font-size:18px;margin:40px 0 12px;padding-top:12px;border-top:1px solid var(--line)}
p{margin:0 0 8px}
.soft,.note{color:var(--soft)}
.note{font-size:14px}
.counts{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0;padding:0;list-style:none}
.passed{color:var(--passed)}.failed{color:var(--failed);font-weight:600}
.mistrusted{color:var(--mistrusted)}.skipped,.unsupported{color:var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:24px 0 0;padding:0;list-style:none}
.legend .plot{display:inline-block;width:12px;height:12px}
.figures{columns:2 500px;column-gap:20px;margin-top:20px}
figure{margin:0 0 20px;break-inside:avoid;padding:14px 16px;background:var(--card);border-radius:8px;overflow:hidden}
figure.full{column-span:all;margin-top:20px}
.plot{display:block;width:100%;height:auto;font-family:inherit}
.narrow,.widest{display:none}
@media (min-width:1100px){.widest{display:block}.full .wide{display:none}}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px;line-height:1.35;min-width:60%}
th,td{padding:5px 14px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600;white-space:nowrap;border-bottom:2px solid var(--line)}
td{font-variant-numeric:tabular-nums;overflow-wrap:break-word}
tfoot td{border-top:2px solid var(--line);border-bottom:0}
.sorts td:first-child{min-width:13em}
.number{text-align:right;white-space:nowrap}.whole{white-space:nowrap}
.facts td{overflow-wrap:anywhere}.differs td{background:color-mix(in srgb,var(--mistrusted) 14%,transparent)}
th button{all:unset;cursor:pointer}
th button:focus-visible{outline:2px solid var(--link)}
th button::after{content:" \2195";color:var(--soft);font-weight:400}
th[aria-sort=ascending] button::after{content:" \2191"}
th[aria-sort=descending] button::after{content:" \2193"}
pre{margin:0;padding:12px 16px;background:var(--card);border-radius:8px;overflow-x:auto;
font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.reasons{margin:0;padding-left:20px}.reasons li{margin-bottom:6px}
@media (max-width:700px){body{padding:16px 14px 40px}.wide{display:none}.narrow{display:block}
figure{padding:10px}.sorts td:first-child{min-width:9em}h1{font-size:22px}}
@media print{th button::after{content:""}}
)";
}

std::string page_script() {
  return R"(
for (const table of document.querySelectorAll('table.sorts')) {
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column], value = cell.dataset.value;
    return value === undefined ? cell.textContent : value === 'nan' ? Infinity : Number(value);
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b
    : String(a).localeCompare(String(b), undefined, {numeric: true});
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}
)";
}

}  // namespace d5::detail
