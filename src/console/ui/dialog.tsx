/** A question over the page: focus stays inside, Escape leaves, and focus returns to where it was. */
import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import "./dialog.css";

interface Props {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isAlert?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, isAlert = false, children }: Props) {
  return (
    <ModalOverlay
      className="dialog-overlay"
      isOpen={isOpen}
      onOpenChange={(open) => (open ? undefined : onClose())}
      isDismissable={!isAlert}
    >
      <Modal className="dialog-modal">
        <AriaDialog className="dialog" role={isAlert ? "alertdialog" : "dialog"}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
