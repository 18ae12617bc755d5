// SPDX-License-Identifier: Apache-2.0
// What is said of the catalogue's entries and of runs in more than one view.
import type { CatalogueEntry, Model, Run } from '../service/types';

/** "toy@1.0.0": what an evaluation calls it. */
export const nameOf = (entry: CatalogueEntry) => (entry.version ? `${entry.name}@${entry.version}` : entry.name);

/** What a run is about, or else how it was asked for. */
export const whatOf = (run: Run) => run.title || (run.command ?? '').replace(/^d5 eval run /, '');

export const taskOf = ({ task }: Model) => task || 'without a task';
