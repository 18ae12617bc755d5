// SPDX-License-Identifier: Apache-2.0
// A chart of ECharts in the page's colours. Its tooltips are drawn, not written as HTML, because names in them come from users.
import type { EChartsCoreOption } from 'echarts/core';
import { h, type Child } from './dom';
import { onSchemeChange, palette, type Palette } from './palette';

export interface ChartOptions {
  title: string;
  /** Description for screen readers. */
  label: string;
  /** Text under the title that explains the marks. */
  note?: Child;
  /** In pixels; may depend on the width. */
  height?: number | ((width: number) => number);
  signal: AbortSignal;
  option: (colours: Palette, width: number) => EChartsCoreOption;
}

export interface Chart {
  element: HTMLElement;
  /** Redraws it after a change of what `option` reads. */
  redraw(): void;
}

export function chart({ title, label, note, height = 300, signal, option }: ChartOptions): Chart {
  const canvas = h('div', { class: 'canvas', role: 'img', 'aria-label': label });
  const widthNow = () => canvas.clientWidth || 300;
  /** Gives the canvas the height for its width. */
  function fit(): { width: number; height: number } {
    const width = widthNow();
    const size = { width, height: typeof height === 'number' ? height : height(width) };
    canvas.style.setProperty('height', `${size.height}px`);
    return size;
  }
  fit();
  const element = h('figure', { class: 'chart' }, h('figcaption', {}, h('h3', {}, title), note && h('p', { class: 'soft' }, note)), canvas);
  let redraw = () => {};
  void import('./echarts').then(({ init }) => {
    if (signal.aborted) return;
    const instance = init(canvas, null, { renderer: 'canvas', ...fit() });
    let drawn = 0; // width
    redraw = () => {
      const colours = palette();
      drawn = widthNow();
      instance.setOption({ ...frame(colours), ...withFrame(option(colours, drawn), colours) }, { notMerge: true });
    };
    const observer = new ResizeObserver(() => {
      if (widthNow() === drawn) return;
      instance.resize(fit());
      redraw();
    });
    observer.observe(canvas);
    onSchemeChange(signal, redraw);
    signal.addEventListener('abort', () => (observer.disconnect(), instance.dispose()), { once: true });
    redraw();
  });
  return { element, redraw: () => redraw() };
}

/** Width of a label in pixels. */
export function labelWidth(text: string): number {
  const context = document.createElement('canvas').getContext('2d')!;
  context.font = `12px ${kFont}`;
  return context.measureText(text).width;
}

const kFont = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif';

const frame = (colours: Palette): EChartsCoreOption => ({
  animation: false,
  useUTC: true,
  backgroundColor: 'transparent',
  textStyle: { fontFamily: kFont, fontSize: 12, color: colours.soft },
  color: colours.series,
  tooltip: {
    trigger: 'item',
    renderMode: 'richText',
    confine: true,
    backgroundColor: colours.card,
    borderColor: colours.line,
    textStyle: { fontFamily: kFont, fontSize: 12, color: colours.ink },
  },
});

/** An axis is logarithmic if its values span more than a factor of 20. */
export const isLogarithmic = (lowest: number, highest: number) => lowest > 0 && highest > 20 * lowest;

/** Common style of all charts' axes, which `option` may override. */
function withFrame(option: EChartsCoreOption, colours: Palette): EChartsCoreOption {
  const axis = (given: unknown) => {
    const own = (given ?? {}) as Record<string, object>;
    return {
      nameLocation: 'middle',
      nameTextStyle: { color: colours.soft },
      ...own,
      axisLine: { lineStyle: { color: colours.line }, ...own.axisLine },
      axisTick: { lineStyle: { color: colours.line }, ...own.axisTick },
      axisLabel: { color: colours.soft, hideOverlap: true, ...own.axisLabel },
      splitLine: { lineStyle: { color: colours.line }, ...own.splitLine },
    };
  };
  return { grid: { left: 64, right: 18, top: 14, bottom: 46 }, ...option, xAxis: axis(option.xAxis), yAxis: axis(option.yAxis) };
}

/** Error bars: data are [x, low, high] or, with `across`, [y, low, high]. */
export function intervals(data: [number, number, number][], colour: string, across = false, extra: object = {}): object {
  return {
    type: 'custom',
    silent: true,
    z: 3,
    clip: true,
    data,
    encode: across ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
    renderItem(_: unknown, api: { value: (dimension: number) => number; coord: (point: number[]) => number[] }) {
      const at = api.value(0);
      const [x1, y1] = api.coord(across ? [api.value(1), at] : [at, api.value(1)]) as [number, number];
      const [x2, y2] = api.coord(across ? [api.value(2), at] : [at, api.value(2)]) as [number, number];
      const style = { stroke: colour, fill: 'none', lineWidth: 2 };
      const line = (a: number, b: number, c: number, d: number) => ({ type: 'line', shape: { x1: a, y1: b, x2: c, y2: d }, style });
      const cap = 4;
      return {
        type: 'group',
        children: across
          ? [line(x1, y1, x2, y2), line(x1, y1 - cap, x1, y1 + cap), line(x2, y2 - cap, x2, y2 + cap)]
          : [line(x1, y1, x2, y2), line(x1 - cap, y1, x1 + cap, y1), line(x2 - cap, y2, x2 + cap, y2)],
      };
    },
    ...extra,
  };
}
