// SPDX-License-Identifier: Apache-2.0
// What is said of the catalogue's entries in more than one view.
import type { CatalogueEntry, Model } from '../service/types';

/** "toy@1.0.0": what an evaluation calls it. */
export const nameOf = (entry: CatalogueEntry) => (entry.version ? `${entry.name}@${entry.version}` : entry.name);

export const taskOf = ({ task }: Model) => task || 'without a task';
