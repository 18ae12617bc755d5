// SPDX-License-Identifier: Apache-2.0
// Texts about the catalogue's entries and runs that several views share.
import type { CatalogueEntry, Model, Run } from '../service/types';

/** "toy@1.0.0": its name in an evaluation. */
export const nameOf = (entry: CatalogueEntry) => (entry.version ? `${entry.name}@${entry.version}` : entry.name);

/** The title of a run, or else its command. */
export const whatOf = (run: Run) => run.title || (run.command ?? '').replace(/^d5 eval run /, '');

export const taskOf = ({ task }: Model) => task || 'without a task';
